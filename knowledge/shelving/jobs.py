"""Starting, cancelling and undoing work on many items. A job is a row; whoever is free works on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from knowledge.indexing.nudging import nudge_after_commit
from knowledge.models import BulkAction, BulkEntry, BulkJob, Item
from knowledge.shelving.errors import CannotUndo, NothingChosen
from tenants.auditing import Actor, Change, note

# A hundred thousand items take longer than any statement of a page may.
_PATIENCE: Final = "SET LOCAL statement_timeout = '5min'"
# Before and behind the query that chooses the items.
_INSERT: Final = (
    "INSERT INTO knowledge_bulkentry"
    " (id, organization_id, job_id, item_id, version, outcome, code, before)"
    " SELECT gen_random_uuid(), %s, %s, m.id, m.version, 'waiting', '', "
)
_FROM_ITEMS: Final = ("'{}' FROM (", ") AS m(id, version)")
_FROM_ENTRIES: Final = ("m.before FROM (", ") AS m(id, version, before)")


@dataclass(frozen=True)
class Order:
    """What is to be done to each item; `label` says to which, `target` is a folder's key."""

    action: str
    label: str
    target: str = ""


def start(
    organization_id: int, order: Order, rows: QuerySet[Item], *, by: Actor, at: datetime
) -> BulkJob:
    """Begin a job on every item of a query, in the version that each has now.

    Cost: one statement, however many items there are.
    Raises: NothingChosen
    """
    job = _job(organization_id, order, by=by, at=at)
    chosen = rows.order_by().values_list("pk", "lock_version")
    return _entered(job, _FROM_ITEMS, chosen, by=by)


def start_chosen(
    organization_id: int, order: Order, seen: Mapping[UUID, int], *, by: Actor, at: datetime
) -> BulkJob:
    """Begin a job on these items, in the versions that were seen.

    Raises: NothingChosen
    """
    known = Item.objects.filter(organization_id=organization_id, pk__in=list(seen))
    job = _job(organization_id, order, by=by, at=at)
    entries = [
        BulkEntry(organization_id=organization_id, job=job, item_id=pk, version=seen[pk])
        for pk in known.order_by("pk").values_list("pk", flat=True)
    ]
    BulkEntry.objects.bulk_create(entries)
    return _counted(job, len(entries), by=by)


def undo(job: BulkJob, *, by: Actor, at: datetime) -> BulkJob:
    """Begin a job that gives every item of another one what it had before.

    What was changed since then is left alone.
    Raises: CannotUndo, NothingChosen
    """
    locked = BulkJob.objects.select_for_update(of=("self",), no_key=True).get(pk=job.pk)
    again = BulkJob.objects.filter(undoes=locked).exists()
    if again or locked.status == BulkJob.Status.RUNNING or locked.action == BulkAction.REREAD:
        raise CannotUndo
    made = _job(locked.organization_id, Order(BulkAction.UNDO, locked.label), by=by, at=at)
    BulkJob.objects.filter(pk=made.pk).update(undoes=locked)
    done = BulkEntry.objects.filter(job=locked, outcome=BulkEntry.Outcome.DONE)
    chosen = done.order_by().values_list("item_id", "version", "before")
    return _entered(made, _FROM_ENTRIES, chosen, by=by)


def cancel(job: BulkJob, *, by: Actor, at: datetime) -> None:
    """Take up no further item; what is done stays, and can be undone."""
    running = BulkJob.objects.filter(pk=job.pk, status=BulkJob.Status.RUNNING)
    if running.update(status=BulkJob.Status.CANCELLED, finished_at=at, lease_until=None):
        _note(job, "cancel", by=by, at=at)


def _job(organization_id: int, order: Order, *, by: Actor, at: datetime) -> BulkJob:
    return BulkJob.objects.create(
        organization_id=organization_id,
        action=order.action,
        target=order.target,
        label=order.label[:400],
        started_by_id=by.user_id,
        actor_label=by.label,
        started_at=at,
    )


def _entered(
    job: BulkJob, around: tuple[str, str], rows: QuerySet[Any, Any], *, by: Actor
) -> BulkJob:
    sql, params = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(_PATIENCE)
        cursor.execute(
            _INSERT + around[0] + sql + around[1], [job.organization_id, job.pk, *params]
        )
        count = cursor.rowcount
    return _counted(job, count, by=by)


def _counted(job: BulkJob, count: int, *, by: Actor) -> BulkJob:
    if not count:
        BulkJob.objects.filter(pk=job.pk).delete()
        raise NothingChosen
    BulkJob.objects.filter(pk=job.pk).update(total=count)
    job.refresh_from_db()
    _note(job, "start", by=by, at=job.started_at)
    nudge_after_commit()
    return job


def _note(job: BulkJob, verb: str, *, by: Actor, at: datetime) -> None:
    told = {"action": job.action, "label": job.label, "items": job.total}
    change = Change(f"bulk.{verb}", "bulk_job", str(job.pk), {}, told)
    note(job.organization_id, change, by=by, at=at)
