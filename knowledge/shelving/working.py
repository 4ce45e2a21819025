"""Working on jobs, a batch at a time: each batch one transaction, so that a kill loses nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import DataError, IntegrityError, transaction
from django.db.models import F, Q, QuerySet

from knowledge.indexing.writing import Outcome as Wrote
from knowledge.indexing.writing import Written
from knowledge.ingestion.persistence import persistently
from knowledge.models import BulkAction, BulkEntry, BulkJob, Item
from knowledge.shelving.errors import ItemChanged
from knowledge.shelving.items import (
    Hand,
    delete_item,
    match_again,
    move_item,
    publish_item,
    put_back,
    restore_item,
    told,
    unpublish_item,
)
from tenants.auditing import Actor, Change, note
from tenants.errors import EarmarkError
from tenants.isolation import organization_context
from tenants.models import Organization

Clock = Callable[[], datetime]
BATCH: Final = 100
# Longer than a batch takes; a job whose process died is taken over after that.
LEASE: Final = timedelta(seconds=60)
KEPT: Final = ("folder_key", "deleted_at", "review_status")
NOT_STORED: Final = "not_stored"
Outcome = BulkEntry.Outcome
Status = BulkJob.Status


@dataclass(frozen=True)
class _Batch:
    job: BulkJob
    entries: list[BulkEntry]
    hand: Hand


def work_waiting(*, clock: Clock) -> int:
    """Work on every job that waits; return how many items were looked at.

    Cost: one statement for each organization when none waits.
    """
    count = 0
    for organization in Organization.objects.filter(is_active=True):
        while (pk := _next(organization.pk, at=clock())) is not None:
            count += work(organization.pk, pk, clock=clock)
    return count


def work(organization_id: int, job_id: UUID, *, clock: Clock, seconds: float = float("inf")) -> int:
    """Work on one job for a time; return how many items were looked at.

    What is left is taken up by the next who asks.
    """
    if not _taken(organization_id, job_id, at=clock()):
        return 0
    ends, total = time.monotonic() + seconds, 0
    while worked := persistently(partial(_work_batch, organization_id, job_id, clock)):
        total += worked
        if time.monotonic() >= ends:
            break
    with organization_context(organization_id):
        BulkJob.objects.filter(pk=job_id).update(lease_until=None)
    return total


def _free(organization_id: int, *, at: datetime) -> QuerySet[BulkJob]:
    running = BulkJob.objects.filter(organization_id=organization_id, status=Status.RUNNING)
    return running.filter(Q(lease_until=None) | Q(lease_until__lte=at)).order_by("started_at")


def _next(organization_id: int, *, at: datetime) -> UUID | None:
    with organization_context(organization_id):
        return _free(organization_id, at=at).values_list("pk", flat=True).first()


def _taken(organization_id: int, job_id: UUID, *, at: datetime) -> bool:
    with organization_context(organization_id):
        free = _free(organization_id, at=at).filter(pk=job_id)
        return bool(free.update(lease_until=at + LEASE))


def _work_batch(organization_id: int, job_id: UUID, clock: Clock) -> int:
    with organization_context(organization_id):
        job = BulkJob.objects.select_for_update(of=("self",)).filter(pk=job_id).first()
        if job is None or job.status != Status.RUNNING:
            return 0
        waiting = BulkEntry.objects.filter(
            organization_id=organization_id, job=job, outcome=Outcome.WAITING
        )
        entries = list(waiting.order_by("item_id")[:BATCH])
        hand = Hand(Actor(job.started_by_id, job.actor_label), clock(), job.label)
        if not entries:
            _close(job, hand)
            return 0
        _do(_Batch(job, entries, hand))
        return len(entries)


def _do(batch: _Batch) -> None:
    rows = Item.objects.select_for_update(of=("self",)).select_related("source")
    found = rows.filter(
        organization_id=batch.job.organization_id, pk__in=[e.item_id for e in batch.entries]
    )
    by_pk = {row.pk: row for row in found.order_by("pk")}
    for entry in batch.entries:
        _one(batch, entry, by_pk[entry.item_id])
    BulkEntry.objects.bulk_update(batch.entries, ["outcome", "code", "before", "version"])
    counts: dict[str, Any] = {
        name: F(name) + sum(entry.outcome == name for entry in batch.entries)
        for name in (Outcome.DONE, Outcome.UNCHANGED, Outcome.REFUSED)
    }
    jobs = BulkJob.objects.filter(pk=batch.job.pk)
    jobs.update(lease_until=batch.hand.at + LEASE, **counts)


def _one(batch: _Batch, entry: BulkEntry, row: Item) -> None:
    before = {name: told(getattr(row, name)) for name in KEPT}
    try:
        with transaction.atomic():
            written = _act(batch, entry, row)
    except EarmarkError as refusal:
        entry.outcome, entry.code = Outcome.REFUSED, refusal.code
    except (DataError, IntegrityError):
        entry.outcome, entry.code = Outcome.REFUSED, NOT_STORED
    else:
        unchanged = written.outcome == Wrote.UNCHANGED
        entry.outcome = Outcome.UNCHANGED if unchanged else Outcome.DONE
        entry.version = row.lock_version
        entry.before = {n: v for n, v in before.items() if v != told(getattr(row, n))}


_VERBS: Final[Mapping[str, Callable[[Item, Hand], Written]]] = {
    BulkAction.DELETE: delete_item,
    BulkAction.RESTORE: restore_item,
    BulkAction.PUBLISH: publish_item,
    BulkAction.UNPUBLISH: unpublish_item,
    BulkAction.REREAD: match_again,
}


def _act(batch: _Batch, entry: BulkEntry, row: Item) -> Written:
    action = batch.job.action
    # Its own words are all that matching again looks at, whatever else has changed.
    if action != BulkAction.REREAD and row.lock_version != entry.version:
        raise ItemChanged
    if action == BulkAction.MOVE:
        return move_item(row, batch.job.target, batch.hand)
    if action == BulkAction.UNDO:
        return put_back(row, entry.before, batch.hand)
    return _VERBS[action](row, batch.hand)


def _close(job: BulkJob, hand: Hand) -> None:
    BulkJob.objects.filter(pk=job.pk).update(
        status=Status.DONE, finished_at=hand.at, lease_until=None
    )
    counts = {"done": job.done, "unchanged": job.unchanged, "refused": job.refused}
    ended = Change("bulk.ended", "bulk_job", str(job.pk), {}, {"label": job.label, **counts})
    note(job.organization_id, ended, by=hand.by, at=hand.at)
