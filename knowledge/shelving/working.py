"""Working on jobs, a batch at a time: each batch one transaction, so that a kill loses nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import DataError, IntegrityError, transaction
from django.db.models import F, Q, QuerySet

from knowledge.ingestion.persistence import persistently
from knowledge.models import BulkAction, BulkEntry, BulkJob, Item
from knowledge.shelving.errors import FolderInUse, ItemChanged
from knowledge.shelving.items import (
    Put,
    deleted_item,
    fresh_sources,
    moved_item,
    published_item,
    put_back,
    restored_item,
    told,
    unpublished_item,
)
from knowledge.shelving.putting import Hand, put_many, reread_many
from knowledge.shelving.tracing import FILING, Trace, hold_folders, trace
from tenants.auditing import Actor, Change, note
from tenants.errors import EarmarkError
from tenants.isolation import organization_context
from tenants.models import Organization
from tenants.rounds import for_each

Clock = Callable[[], datetime]
BATCH: Final = 200
# Longer than a batch takes; a job whose process died is taken over after that.
LEASE: Final = timedelta(seconds=60)
NOT_STORED: Final = "not_stored"
Outcome = BulkEntry.Outcome
Status = BulkJob.Status


@dataclass(frozen=True)
class _Batch:
    job: BulkJob
    entries: list[BulkEntry]
    hand: Hand
    trace: Trace


def work_waiting(*, clock: Clock, seconds: float = float("inf")) -> int:
    """Work on the jobs that wait; return how many items were looked at.

    Once the time is over each organization has one more batch; what is left goes to the next who asks.
    Raises: RoundIncomplete
    Cost:   one statement for each organization when none waits.
    """

    ends = time.monotonic() + seconds

    def work_on(organization: Organization) -> int:
        count = 0
        while (pk := _next(organization.pk, at=clock())) is not None:
            count += work(organization.pk, pk, clock=clock, seconds=ends - time.monotonic())
            if time.monotonic() >= ends:
                break
        return count

    return sum(for_each("jobs", Organization.objects.filter(is_active=True), work_on).values())


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
        job = BulkJob.objects.select_for_update(of=("self",), no_key=True).filter(pk=job_id).first()
        if job is None or job.status != Status.RUNNING:
            return 0
        waiting = BulkEntry.objects.filter(
            organization_id=organization_id, job=job, outcome=Outcome.WAITING
        )
        entries = list(waiting.order_by("item_id")[:BATCH])
        why = f"{job.action} {job.label}".strip()
        hand = Hand(Actor(job.started_by_id, job.actor_label), clock(), why)
        if not entries:
            _close(job, hand)
            return 0
        _do(_Batch(job, entries, hand, _trace(job)))
        return len(entries)


def _trace(job: BulkJob) -> Trace:
    # A folder may be renamed while a job files into it, and before what was done is undone.
    if job.action in FILING:
        hold_folders(job.organization_id)
    since = job.undoes.started_at if job.undoes else job.started_at
    return trace(job.organization_id, since)


def _do(batch: _Batch) -> None:
    rows = Item.objects.select_for_update(of=("self",), no_key=True).select_related("source")
    found = rows.filter(
        organization_id=batch.job.organization_id, pk__in=[e.item_id for e in batch.entries]
    )
    by_pk = {row.pk: row for row in found.order_by("pk")}
    if batch.job.action == BulkAction.REREAD:
        _reread(batch, by_pk)
    else:
        _put(batch, by_pk)
    BulkEntry.objects.bulk_update(batch.entries, ["outcome", "code", "before", "version"])
    counts: dict[str, Any] = {
        name: F(name) + sum(entry.outcome == name for entry in batch.entries)
        for name in (Outcome.DONE, Outcome.UNCHANGED, Outcome.REFUSED)
    }
    jobs = BulkJob.objects.filter(pk=batch.job.pk)
    jobs.update(lease_until=batch.hand.at + LEASE, **counts)


def _reread(batch: _Batch, rows: Mapping[UUID, Item]) -> None:
    # Its own words are all that matching again looks at, whatever else has changed.
    others = {row.pk for row in reread_many(list(rows.values()), batch.hand.at)}
    for entry in batch.entries:
        entry.outcome = Outcome.DONE if entry.item_id in others else Outcome.UNCHANGED


def _put(batch: _Batch, rows: Mapping[UUID, Item]) -> None:
    fresh = fresh_sources(batch.job.organization_id)
    puts: list[tuple[BulkEntry, Put]] = []
    for entry in batch.entries:
        try:
            puts.append((entry, _decided(batch, entry, rows[entry.item_id], fresh)))
        except EarmarkError as refusal:
            entry.outcome, entry.code = Outcome.REFUSED, refusal.code
    _write(puts, batch.hand)


def _write(puts: Sequence[tuple[BulkEntry, Put]], hand: Hand) -> None:
    """Write all of them; when the database refuses one, each by itself."""
    before = {entry.pk: _before(put) for entry, put in puts}
    try:
        with transaction.atomic():
            put_many([put for _entry, put in puts], hand)
    except (DataError, IntegrityError):
        if len(puts) == 1:
            puts[0][0].outcome, puts[0][0].code = Outcome.REFUSED, NOT_STORED
            return
        for entry, put in puts:
            fresh_row = Item.objects.select_related("source").get(pk=put.row.pk)
            _write([(entry, Put(fresh_row, put.verb, put.columns))], hand)
        return
    for entry, put in puts:
        entry.before, entry.version = before[entry.pk], put.row.lock_version
        entry.outcome = Outcome.DONE if entry.before else Outcome.UNCHANGED


def _before(put: Put) -> dict[str, Any]:
    return {name: told(getattr(put.row, name)) for name in put.changed}


def _decided(batch: _Batch, entry: BulkEntry, row: Item, fresh: frozenset[UUID]) -> Put:
    action, at = batch.job.action, batch.hand.at
    if row.lock_version != entry.version:
        raise ItemChanged
    if action == BulkAction.MOVE:
        return moved_item(row, _place(batch, batch.job.target), fresh)
    if action == BulkAction.UNDO:
        return put_back(row, _placed(batch, entry.before), at)
    if action == BulkAction.DELETE:
        return deleted_item(row, at)
    if action == BulkAction.RESTORE:
        return restored_item(row, at)
    return published_item(row) if action == BulkAction.PUBLISH else unpublished_item(row)


def _placed(batch: _Batch, before: Mapping[str, Any]) -> Mapping[str, Any]:
    key = before.get("folder_key")
    return before if key is None else {**before, "folder_key": _place(batch, key)}


def _place(batch: _Batch, key: str) -> str:
    place = batch.trace.now(key)
    if place is None:
        raise FolderInUse(folder=key)
    return place


def _close(job: BulkJob, hand: Hand) -> None:
    BulkJob.objects.filter(pk=job.pk).update(
        status=Status.DONE, finished_at=hand.at, lease_until=None
    )
    counts = {"done": job.done, "unchanged": job.unchanged, "refused": job.refused}
    ended = Change("bulk.ended", "bulk_job", str(job.pk), {}, {"label": job.label, **counts})
    note(job.organization_id, ended, by=hand.by, at=hand.at)
