"""How far the index is behind, by organization."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, F, Min, Q

from knowledge.indexing.leases import waiting_states
from knowledge.models import IndexState
from tenants.isolation import organization_context
from tenants.models import Organization

LOOK_EVERY_S: Final = 0.1


@dataclass(frozen=True)
class Backlog:
    """Counts of one organization's assets.

    pending  behind the truth rows, with those that are retried.
    Units: oldest_pending_s in seconds since the oldest waiting change.
    """

    organization: str
    assets: int
    live: int
    pending: int
    retrying: int
    failed: int
    oldest_pending_s: float | None
    reasons: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return it as it is printed."""
        return asdict(self)


def backlog(organization: Organization, *, at: datetime) -> Backlog:
    """Return how far the index of one organization is behind.

    Cost: two statements.
    """
    behind = Q(applied_generation__lt=F("desired_generation"))
    failed = Q(status=IndexState.Status.FAILED)
    with organization_context(organization.pk):
        states = IndexState.objects.filter(organization=organization)
        counts = states.aggregate(
            assets=Count("pk"),
            live=Count("pk", filter=~behind),
            pending=Count("pk", filter=behind & ~failed),
            retrying=Count("pk", filter=Q(status=IndexState.Status.RETRYING)),
            failed=Count("pk", filter=failed),
            oldest=Min("desired_at", filter=behind & ~failed),
        )
        told = states.exclude(last_error_code="").values_list("last_error_code")
        reasons = dict(told.annotate(Count("pk")).order_by("last_error_code"))
    oldest = counts.pop("oldest")
    age = None if oldest is None else round(max(0.0, (at - oldest).total_seconds()), 1)
    return Backlog(organization.slug, **counts, oldest_pending_s=age, reasons=reasons)


def backlogs(*, at: datetime) -> list[Backlog]:
    """Return the same for every organization."""
    return [backlog(organization, at=at) for organization in Organization.objects.all()]


def waiting(organization_id: int) -> int:
    """Return how many assets are behind and still tried."""
    with organization_context(organization_id):
        return waiting_states(organization_id).count()


def wait_until_indexed(organization_id: int, timeout: float) -> bool:
    """Wait until nothing is behind any more; False when the time is over first.

    Units: timeout in seconds. What failed for good is not waited for.
    """
    ends = time.monotonic() + timeout
    while waiting(organization_id):
        if time.monotonic() >= ends:
            return False
        time.sleep(LOOK_EVERY_S)
    return True
