"""Where a folder of some day is now. A key names whatever is filed under it, so it may name another folder today."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from knowledge.folders import is_within, moved, parent
from tenants.models import AuditEntry


@dataclass(frozen=True)
class Trace:
    """What became of folders since an instant, in the order in which it happened."""

    moves: tuple[tuple[str, str, frozenset[str]], ...] = ()

    def now(self, key: str) -> str | None:
        """Return the key that a folder has now, or None when another folder has its name.

        A folder that was let go keeps its key: nothing is filed there, and nothing else came there.
        """
        for old, new, names in self.moves:
            if new == parent(old):
                if key != old and is_within(key, old):
                    key = moved(key, old, new)
                elif any(is_within(key, f"{new}/{name}") for name in names):
                    return None
            elif is_within(key, old):
                key = moved(key, old, new)
            elif is_within(key, new):
                return None
        return key


def trace(organization_id: int, since: datetime) -> Trace:
    """Return the moves of an organization's folders after an instant. Expects its context."""
    entries = AuditEntry.objects.filter(
        organization_id=organization_id, subject_type="folder", verb="folder.move", at__gt=since
    )
    told = entries.order_by("at", "id").values_list("before__folder", "after")
    return Trace(tuple(_moves(told)))


def _moves(
    told: Iterable[tuple[str, dict[str, object]]],
) -> Iterable[tuple[str, str, frozenset[str]]]:
    for old, after in told:
        names = after.get("names", [])
        listed = names if isinstance(names, list) else []
        yield old, str(after["folder"]), frozenset(map(str, listed))
