"""What was deleted is removed for good after thirty days, with its place in the index and its selections.

An item that staff deleted from a source that is kept fresh would come back at the next look, so of
that only the words are removed; its name stays, deleted, and keeps it away.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from django.db.models import Q, QuerySet

from knowledge.indexing.writing import change
from knowledge.ingestion.writing import instants_of_imports
from knowledge.models import (
    BulkJob,
    Document,
    IndexState,
    Item,
    ItemKind,
    LexicalEntry,
    ReviewStatus,
    SourceSchedule,
)
from knowledge.shelving.items import RESTORABLE
from knowledge.shelving.picks import folder_picks
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import Organization
from tenants.rounds import for_each

BATCH: Final = 200
# What is left after this goes next time; a task of Celery may not run much longer.
BUDGET_S: Final = 60.0
BY: Final = Actor.process("purge")


def purge_deleted(at: datetime, *, clock: Callable[[], float] = time.monotonic) -> dict[str, int]:
    """Remove what every organization deleted more than thirty days ago, in short transactions.

    Shape:  slug -> how many items
    Raises: RoundIncomplete
    """
    ends = clock() + BUDGET_S

    def purge(organization: Organization) -> int:
        count = last = _purge(organization.pk, at)
        while last and clock() < ends:
            last = _purge(organization.pk, at)
            count += last
        _forget_jobs(organization.pk, at)
        return count

    return for_each("purging", Organization.objects.all(), purge)


def _purge(organization_id: int, at: datetime) -> int:
    with organization_context(organization_id):
        rows = list(
            _overdue(organization_id, at).select_for_update(of=("self",), no_key=True)[:BATCH]
        )
        emptied = _kept_away(organization_id, rows)
        for row in emptied:
            _empty(row, at)
        _remove(organization_id, [row for row in rows if row not in emptied])
        if rows:
            told = {"items": [str(row.pk) for row in rows], "emptied": len(emptied)}
            made = Change("item.purge", "organization", str(organization_id), {}, told)
            note(organization_id, made, by=BY, at=at)
        return len(rows)


def _overdue(organization_id: int, at: datetime) -> QuerySet[Item]:
    old = Item.objects.filter(organization_id=organization_id, deleted_at__lt=at - RESTORABLE)
    # Emptied ones stay as they are for as long as their source is kept fresh.
    fresh = Q(source__in=SourceSchedule.objects.values("source_id"))
    open_ones = old.exclude(kind=ItemKind.GOLDEN).exclude(fresh & Q(title="", body=""))
    return open_ones.order_by("deleted_at", "pk")


def _kept_away(organization_id: int, rows: list[Item]) -> list[Item]:
    sources = SourceSchedule.objects.filter(organization_id=organization_id)
    fresh = set(sources.values_list("source_id", flat=True))
    pruned = instants_of_imports({row.deleted_at for row in rows if row.deleted_at})
    return [row for row in rows if row.source_id in fresh and row.deleted_at not in pruned]


def _empty(row: Item, at: datetime) -> None:
    blank: dict[str, Any] = {"title": "", "body": "", "url": "", "phrasings": [], "metadata": {}}
    change(row, at=at, review_status=ReviewStatus.REJECTED, **blank)


def _remove(organization_id: int, rows: list[Item]) -> None:
    ids = [row.pk for row in rows]
    folder_picks().removing(organization_id, ids)
    for derived in (LexicalEntry, Document, IndexState):
        derived._default_manager.filter(organization_id=organization_id, asset_id__in=ids).delete()
    Item.objects.filter(organization_id=organization_id, pk__in=ids).delete()


def _forget_jobs(organization_id: int, at: datetime) -> None:
    with organization_context(organization_id):
        old = BulkJob.objects.filter(
            organization_id=organization_id, started_at__lt=at - RESTORABLE
        )
        old.exclude(status=BulkJob.Status.RUNNING).delete()
