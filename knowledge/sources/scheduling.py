"""When sources are looked at, by whom asked, and what was found."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from knowledge.ingestion.request import Clock
from knowledge.models import SourceSchedule
from knowledge.sources.errors import NothingToConfirm, SourceBusy
from knowledge.sources.syncing import Look, look_at
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import Organization
from tenants.rounds import for_each

# Renewed with every batch: a look whose process died is taken over after that.
LEASE: Final = timedelta(minutes=15)
Outcome = SourceSchedule.Outcome


def ask_now(schedule: SourceSchedule, *, by: Actor, at: datetime) -> None:
    """Have a source looked at as soon as a process is free."""
    _schedules(schedule).update(next_run_at=at, is_active=True)
    _note(schedule, "sync", {}, by=by, at=at)


def confirm(schedule: SourceSchedule, *, by: Actor, at: datetime) -> int:
    """Agree to the removals that were asked about, and look again; return how many they are.

    More than were asked about are asked about again.
    Raises: NothingToConfirm
    """
    row = _schedules(schedule).select_for_update(of=("self",), no_key=True).get()
    if row.last_outcome != Outcome.NEEDS_CONFIRMATION:
        raise NothingToConfirm
    row.confirmed_removals, row.next_run_at = row.asked_removals, at
    row.save(update_fields=["confirmed_removals", "next_run_at"])
    _note(schedule, "confirm", {"removals": row.asked_removals}, by=by, at=at)
    return row.asked_removals


def refuse(schedule: SourceSchedule, *, by: Actor, at: datetime) -> int:
    """Keep what is gone from the source; return how many items that are.

    They are not asked about again, until more than these are gone.
    Raises: NothingToConfirm
    """
    row = _schedules(schedule).select_for_update(of=("self",), no_key=True).get()
    if row.last_outcome != Outcome.NEEDS_CONFIRMATION:
        raise NothingToConfirm
    row.refused_removals, row.last_outcome = row.asked_removals, Outcome.DONE
    row.last_reason, row.asked_removals = "What is gone stays, as somebody said.", 0
    row.save(update_fields=["refused_removals", "last_outcome", "last_reason", "asked_removals"])
    _note(schedule, "refuse", {"removals": row.refused_removals}, by=by, at=at)
    return row.refused_removals


def sync(organization_id: int, pk: UUID, *, clock: Clock) -> Look:
    """Look at a source now.

    Raises: SourceBusy
    """
    schedule = _taken(organization_id, pk, at=clock())
    if schedule is None:
        raise SourceBusy
    look = look_at(schedule, clock=clock, renew=lambda: _renew(schedule, at=clock()))
    with organization_context(organization_id):
        _schedules(schedule).update(**_outcome(schedule, look, at=clock()))
    return look


def sync_due(*, clock: Clock) -> list[str]:
    """Look at every source that is due; return which were looked at.

    Raises: RoundIncomplete
    Cost:   one statement for each organization when nothing is due.
    """
    done = []

    def look(organization: Organization) -> None:
        for pk, slug in _due(organization.pk, at=clock()):
            with suppress(SourceBusy):
                sync(organization.pk, pk, clock=clock)
                done.append(f"{organization.slug}/{slug}")

    for_each("sources", Organization.objects.filter(is_active=True), look)
    return done


def _due(organization_id: int, *, at: datetime) -> list[tuple[UUID, str]]:
    with organization_context(organization_id):
        rows = SourceSchedule.objects.filter(
            _free(at), organization_id=organization_id, is_active=True, next_run_at__lte=at
        )
        return list(rows.order_by("next_run_at").values_list("pk", "source__slug"))


def _taken(organization_id: int, pk: UUID, *, at: datetime) -> SourceSchedule | None:
    with organization_context(organization_id):
        rows = SourceSchedule.objects.filter(organization_id=organization_id, pk=pk)
        if not rows.filter(_free(at)).update(lease_until=at + LEASE, last_run_at=at):
            return None
        return rows.select_related("source", "organization").get()


def _renew(schedule: SourceSchedule, *, at: datetime) -> None:
    with organization_context(schedule.organization_id):
        _schedules(schedule).update(lease_until=at + LEASE)


def _free(at: datetime) -> Q:
    return Q(lease_until=None) | Q(lease_until__lte=at)


def _outcome(schedule: SourceSchedule, look: Look, *, at: datetime) -> dict[str, Any]:
    every = timedelta(minutes=schedule.every_minutes)
    told: dict[str, Any] = {
        "lease_until": None,
        "next_run_at": at + every if every else None,
        "last_run": look.run,
        "last_outcome": look.outcome,
        "last_reason": look.reason,
        "last_changes": look.changes,
        "asked_removals": look.asked,
        "confirmed_removals": 0,
        # A look that failed says nothing of what is gone: the word of staff stands.
        "refused_removals": schedule.refused_removals
        if look.outcome in (Outcome.FAILED, Outcome.UNCERTAIN)
        else look.refused,
    }
    return told | ({"last_done_at": at} if look.outcome != Outcome.FAILED else {})


def _schedules(schedule: SourceSchedule) -> QuerySet[SourceSchedule]:
    return SourceSchedule.objects.filter(organization_id=schedule.organization_id, pk=schedule.pk)


def _note(
    schedule: SourceSchedule, verb: str, after: dict[str, Any], *, by: Actor, at: datetime
) -> None:
    told = Change(f"source.{verb}", "source_schedule", str(schedule.pk), {}, after)
    note(schedule.organization_id, told, by=by, at=at)
