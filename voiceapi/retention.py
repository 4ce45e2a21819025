"""How long calls and searches are remembered: each organization says so, in days."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import QuerySet

from knowledge.models import SearchRecord
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import Contact, Organization
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


def forget_old(
    at: datetime, *, clock: Callable[[], float] = time.monotonic
) -> dict[str, Forgotten]:
    """Delete what every organization has kept long enough, in short transactions.

    Shape: slug -> what was deleted
    """
    ends = clock() + BUDGET_S
    forgotten: dict[str, Forgotten] = {}
    for organization in Organization.objects.all():
        before = at - timedelta(days=organization.retention_days)
        searches = _drain(organization, _old_searches(organization, before), lambda: clock() < ends)
        sessions = _drain(organization, _old_sessions(organization, before), lambda: clock() < ends)
        forgotten[organization.slug] = Forgotten(searches, sessions)
    forget_idle()
    return forgotten


def forget_contact(contact: Contact, *, by: Actor, at: datetime) -> Forgotten:
    """Delete every call of one contact and what was searched in it; the audit trail keeps that it was.

    The contact itself stays: whether somebody is a customer is not ours to decide.
    """
    organization_id = contact.organization_id
    with organization_context(organization_id):
        sessions = VoiceSession.objects.filter(organization_id=organization_id, contact=contact)
        ids = list(sessions.values_list("pk", flat=True))
        searches = _delete(
            SearchRecord.objects.filter(organization_id=organization_id, session_id__in=ids)
        )
        forgotten = Forgotten(searches, _delete(sessions.filter(pk__in=ids)))
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


def _drain(organization: Organization, rows: QuerySet[Any], has_time: Callable[[], bool]) -> int:
    total = 0
    while has_time():
        with organization_context(organization.pk):
            ids = list(rows.values_list("pk", flat=True)[:BATCH])
            total += _delete(rows.model._default_manager.filter(pk__in=ids))
        if len(ids) < BATCH:
            break
    return total


def _delete(rows: QuerySet[Any]) -> int:
    return rows.delete()[0]
