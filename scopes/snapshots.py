"""Keep what an agent could search at one moment, small enough to be kept with every search."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

from knowledge.retrieval.types import Allowlist, Everything, Scope

# Of a longer selection the first are kept, beside their number and a fingerprint of all.
MOST_NAMED: Final = 50


def snapshot_of(allowlist: Allowlist) -> dict[str, Any]:
    """Return scope and caller as plain values; equal fingerprints mean equal selections."""
    caller = allowlist.caller
    return {
        "instructions": _scope(allowlist.instructions),
        "knowledge": _scope(allowlist.knowledge),
        "caller": {
            "channel": caller.channel,
            "country": caller.country,
            "segments": sorted(map(str, caller.segments)),
        },
    }


def _scope(scope: Scope) -> dict[str, Any]:
    if isinstance(scope, Everything):
        return {"mode": "all"}
    rows, directories = _sorted(scope.ids), _sorted(scope.directories)
    folders = _sorted(scope.folders)
    named = "\n".join((*rows, "", *directories, "", *folders))
    return {
        "mode": "selected",
        "vacant": scope.is_vacant,
        "counts": {"rows": len(rows), "directories": len(directories), "folders": len(folders)},
        "rows": rows[:MOST_NAMED],
        "directories": directories[:MOST_NAMED],
        "folders": folders[:MOST_NAMED],
        "fingerprint": _fingerprint(named),
    }


def shortened(selection: dict[str, Any]) -> dict[str, Any]:
    """Return one category of an explicit selection; of long lists the first, beside the number and a fingerprint of all."""
    lists = {name: value for name, value in selection.items() if isinstance(value, list)}
    counts = {name: len(value) for name, value in lists.items() if len(value) > MOST_NAMED}
    if not counts:
        return selection
    short = {name: value[:MOST_NAMED] for name, value in lists.items()}
    named = "\n".join(line for name in sorted(lists) for line in (*lists[name], ""))
    return {**selection, **short, "counts": counts, "fingerprint": _fingerprint(named)}


def _fingerprint(named: str) -> str:
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def _sorted(values: Iterable[object]) -> list[str]:
    return sorted(map(str, values))
