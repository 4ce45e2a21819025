"""What people left behind when they signed in or were invited goes after a while; some thousand rows at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from axes.models import AccessAttempt, AccessLog
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet

from tenants.isolation import organization_context
from tenants.models import Invitation

BATCH: Final = 5_000
# Attempts count for minutes only; staff look at signs of guessing for some weeks.
ATTEMPTS_KEPT: Final = timedelta(days=30)
INVITATIONS_KEPT: Final = timedelta(days=90)


def forget_sign_ins(at: datetime) -> int:
    """Delete sessions that are over, and old records of signing in; return how many."""
    old = {"attempt_time__lt": at - ATTEMPTS_KEPT}
    return (
        _delete(Session.objects.filter(expire_date__lt=at))
        + _delete(AccessAttempt.objects.filter(**old))
        + _delete(AccessLog.objects.filter(**old))
    )


def forget_invitations(organization_id: int, *, at: datetime) -> int:
    """Delete invitations that ended long ago; the audit trail keeps that they were."""
    before = at - INVITATIONS_KEPT
    ended = Q(accepted_at__lt=before) | Q(revoked_at__lt=before) | Q(expires_at__lt=before)
    with organization_context(organization_id):
        return _delete(Invitation.objects.filter(ended, organization_id=organization_id))


def _delete(rows: QuerySet[Any]) -> int:
    found = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
    deleted: int = rows.model._default_manager.filter(pk__in=found).delete()[0]
    return deleted
