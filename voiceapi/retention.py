"""How long calls and searches are remembered: each organization says so, in days."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from knowledge.models import SearchRecord
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import Contact, Organization
from tenants.rounds import for_each
from voiceapi.limiting import forget_idle
from voiceapi.models import VoiceSession

BATCH: Final = 5_000
# What is left after this goes next time; a task of Celery may not run much longer.
BUDGET_S: Final = 60.0


@dataclass(frozen=True)
class Forgotten:
    """How many rows were deleted."""

    searches: int = 0
    sessions: int = 0

    def __add__(self, other: Forgotten) -> Forgotten:
        return Forgotten(self.searches + other.searches, self.sessions + other.sessions)


def forget_old(
    at: datetime, *, clock: Callable[[], float] = time.monotonic
) -> dict[str, Forgotten]:
    """Delete what every organization has kept long enough, in short transactions.

    Shape:  slug -> what was deleted
    Raises: RoundIncomplete
    """
    ends = clock() + BUDGET_S

    def forget(organization: Organization) -> Forgotten:
        before = at - timedelta(days=organization.retention_days)
        searches = _old_searches(organization, before)
        first = _drain(organization, searches, _searches, lambda: clock() < ends)
        sessions = _old_sessions(organization, before)
        return first + _drain(organization, sessions, _calls, lambda: clock() < ends)

    forget_idle()
    return for_each("forgetting", Organization.objects.all(), forget)


def forget_contact(contact: Contact, *, by: Actor, at: datetime) -> Forgotten:
    """Delete every call of one contact and what was searched in it; the audit trail keeps that it was.

    The contact itself stays: whether somebody is a customer is not ours to decide.
    """
    organization_id = contact.organization_id
    with organization_context(organization_id):
        sessions = VoiceSession.objects.filter(organization_id=organization_id, contact=contact)
        forgotten = _calls(organization_id, list(sessions.values_list("pk", flat=True)))
        after = {"searches": forgotten.searches, "sessions": forgotten.sessions}
        change = Change("contact.forget_calls", "contact", str(contact.pk), {}, after)
        note(organization_id, change, by=by, at=at)
    return forgotten


def _old_searches(organization: Organization, before: datetime) -> QuerySet[Any]:
    return SearchRecord.objects.filter(organization=organization, at__lt=before).order_by("at")


def _old_sessions(organization: Organization, before: datetime) -> QuerySet[Any]:
    # A call that is still going on is older than its last use.
    old = VoiceSession.objects.filter(organization=organization, created_at__lt=before)
    return old.filter(expires_at__lt=before).order_by("created_at")


def _drain(
    organization: Organization,
    rows: QuerySet[Any],
    forget: Callable[[int, list[UUID]], Forgotten],
    has_time: Callable[[], bool],
) -> Forgotten:
    total = Forgotten()
    while has_time():
        with organization_context(organization.pk):
            ids = list(rows.values_list("pk", flat=True)[:BATCH])
            total += forget(organization.pk, ids)
        if len(ids) < BATCH:
            break
    return total


def _searches(organization_id: int, ids: list[UUID]) -> Forgotten:
    searches = SearchRecord.objects.filter(organization_id=organization_id, pk__in=ids)
    return Forgotten(searches=_delete(searches))


def _calls(organization_id: int, ids: list[UUID]) -> Forgotten:
    """Delete calls and all that was asked in them, also what staff asked again later."""
    sessions = VoiceSession.objects.filter(organization_id=organization_id, pk__in=ids)
    searches = SearchRecord.objects.filter(organization_id=organization_id, session_id__in=ids)
    # Calls first: this waits for whoever is writing a search down, and nobody does afterwards.
    ended = _delete(sessions)
    return Forgotten(_delete(searches), ended)


def _delete(rows: QuerySet[Any]) -> int:
    return rows.delete()[0]
