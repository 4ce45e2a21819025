"""Runs the parts that were asked for, and keeps what they found.

The last figures of every part stand in `.earmark/runs/bench.json` (EARMARK_RUNS names another folder);
`OUT=` writes those of this run alone in the same shape:

    {"parts": {name: {"at": "2026-03-02T09:30:00+00:00", "seconds": 12.3, "sizes": [10000, 100000],
                      "figures": {...}, "faults": ["a promise that was not kept", ...]}}}

`figures` is the part's own: dense has `cells`, search has `steps` by size and scope, and so on.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench.parts import PARTS, Options, part
from config.private import home

SIZES: Final = {"1k": 1_000, "10k": 10_000, "100k": 100_000, "1m": 1_000_000}
Report = dict[str, Any]


def main() -> int:
    """Run, print, write; 1 when a promise was not kept, 2 when something unknown was asked for."""
    options, names = options_from(os.environ), _listed("ONLY") or list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown or not options.sizes:
        print(f"ONLY names some of {', '.join(PARTS)}; SIZE some of {', '.join(SIZES)}.")
        return 2
    report = run(names, options)
    write(report)
    faults = [fault for one in report.values() for fault in one["faults"]]
    print(*faults, sep="\n")
    return 1 if faults else 0


def options_from(said: Any) -> Options:
    """Return what the environment asks for; no sizes when one of them is unknown."""
    sizes = _listed("SIZE", said) or ["10k", "100k"]
    usual = Options()
    clients = tuple(map(int, _listed("CLIENTS", said))) or usual.clients
    return Options(
        sizes=tuple(SIZES[name] for name in sizes if name in SIZES)
        if set(sizes) <= set(SIZES)
        else (),
        questions=int(said.get("QUESTIONS") or usual.questions),
        seconds=int(said.get("SECONDS") or usual.seconds),
        clients=clients,
        peers=said.get("PEERS") != "0",
    )


def run(names: Sequence[str], options: Options) -> Report:
    """Run these parts one after the other."""
    return {name: _run(name, options) for name in names}


def write(report: Report) -> None:
    """Keep the figures, with those of other parts from earlier runs; write them where OUT says."""
    if out := os.environ.get("OUT"):
        Path(out).write_text(_json({"parts": report}), "utf-8")
    path = _kept_at()
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(_json({"parts": kept() | report}), "utf-8")
    draft.replace(path)


def kept() -> Report:
    """Return the last figures of every part that has run here."""
    try:
        found: Report = json.loads(_kept_at().read_text("utf-8"))["parts"]
    except (FileNotFoundError, ValueError, KeyError):
        return {}
    return found


def _kept_at() -> Path:
    return Path(os.environ.get("EARMARK_RUNS") or home() / "runs") / "bench.json"


def _run(name: str, options: Options) -> dict[str, Any]:
    print(f"\n== {name}", flush=True)
    at, began = datetime.now(UTC), time.monotonic()  # noqa: TID251 - a command
    outcome = part(name)(options)
    return {
        "at": at.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - began, 1),
        "sizes": list(options.sizes),
        **asdict(outcome),
    }


def _listed(name: str, said: Any = os.environ) -> list[str]:
    return str(said.get(name, "")).replace(",", " ").split()


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
