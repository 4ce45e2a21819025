"""Where a folder of some day is now. A key names whatever is filed under it, so it may name another folder today."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max, QuerySet

from knowledge.folders import is_within, moved, parent
from knowledge.models import BulkAction, BulkJob, Source
from tenants.models import AuditEntry

# Work that files items by keys which were true when it began.
FILING: Final = (BulkAction.MOVE, BulkAction.UNDO)
_NEXT: Final = timedelta(microseconds=1)


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
    entries = _entries(organization_id).filter(at__gt=since)
    told = entries.order_by("at", "id").values_list("before__folder", "after")
    return Trace(tuple(_moves(told)))


def hold_folders(organization_id: int) -> None:
    """Let no folder get another key until the transaction ends."""
    sources = Source.objects.filter(organization_id=organization_id).order_by("pk")
    list(sources.select_for_update(no_key=True))


def instant_of_move(organization_id: int, selected: datetime | None, *, at: datetime) -> datetime:
    """Return an instant for a move that began at one, after all that will have to follow it.

    A move may begin first and end last; a trace since then would miss it. Expects that nobody selects
    or moves until the transaction ends. `selected` is when somebody last selected.
    """
    before = _entries(organization_id).aggregate(newest=Max("at"))["newest"]
    jobs = BulkJob.objects.filter(organization_id=organization_id, action__in=FILING)
    started = jobs.aggregate(newest=Max("started_at"))["newest"]
    later = [one for one in (selected, before, started) if one is not None and one >= at]
    return max(later) + _NEXT if later else at


def _entries(organization_id: int) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(
        organization_id=organization_id, subject_type="folder", verb="folder.move"
    )


def _moves(
    told: Iterable[tuple[str, dict[str, object]]],
) -> Iterable[tuple[str, str, frozenset[str]]]:
    for old, after in told:
        names = after.get("names", [])
        listed = names if isinstance(names, list) else []
        yield old, str(after["folder"]), frozenset(map(str, listed))
