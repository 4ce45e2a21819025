"""The page "Status": whether anything leaks, lags, or is left alone, for one's own organizations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from knowledge.indexing.status import Backlog, backlog
from knowledge.models import ProviderPause, SearchRecord
from scopes.models import CanaryLook
from scopes.probing import newest_looks
from tenants.admin_authority import at_of, authority_of, organizations_seen
from tenants.admin_site import Notice, our_site
from tenants.models import Organization, Role
from voiceapi.exposing import registry

LATELY: Final = timedelta(minutes=15)
# The probe runs every minute; this is when it has surely stopped.
STALE: Final = timedelta(minutes=10)


@dataclass(frozen=True)
class Row:
    """One organization as the page shows it."""

    organization: Organization
    index: Backlog
    look: CanaryLook | None
    look_is_stale: bool
    searches: int
    degraded: int
    unanswered: int

    @property
    def dense_searches(self) -> int:
        """Return from how many places the newest look asked by vectors."""
        return self.look.dense_searches if self.look and self.look.is_whole else 0

    @property
    def degraded_percent(self) -> int:
        """Return the share of searches that went without one of the legs."""
        return round(100 * self.degraded / self.searches) if self.searches else 0


def status(request: HttpRequest) -> HttpResponse:
    """Show one row for each organization, and what belongs to none."""
    if not authority_of(request).has_somewhere(Role.VIEWER):
        raise PermissionDenied
    at = at_of(request)
    context = {
        **our_site().each_context(request),
        "title": _("Status"),
        "rows": _rows(organizations_seen(request, Role.VIEWER), at),
        "breaker_open": bool(_counted("earmark_embedding_breaker_open")),
        "pauses": ProviderPause.objects.filter(until__gt=at).count(),
        "foreign_rows": int(_counted("earmark_foreign_rows_total")),
        "minutes": int(LATELY.total_seconds() // 60),
    }
    return TemplateResponse(request, "voiceapi/status.html", context)


def leaks_noticed(request: HttpRequest) -> list[Notice]:
    """Warn on the overview while a canary is found where it must not be."""
    seen = authority_of(request).organizations(Role.VIEWER)
    looks = CanaryLook.objects.filter(organization_id__in=seen).exclude(leaks=[])
    if not looks.exists():
        return []
    text = _("A search finds content that is kept from it. Look at once.")
    return [Notice(str(text), reverse("admin:status"))]


def _rows(organizations: list[Organization], at: datetime) -> list[Row]:
    looks = {look.organization_id: look for look in newest_looks()}
    counts = _searches([organization.pk for organization in organizations], at)
    return [
        Row(
            organization,
            backlog(organization, at=at),
            look := looks.get(organization.pk),
            look is not None and look.at < at - STALE,
            **counts.get(organization.pk, {"searches": 0, "degraded": 0, "unanswered": 0}),
        )
        for organization in organizations
    ]


def _searches(ids: list[int], at: datetime) -> dict[int, dict[str, int]]:
    records = SearchRecord.objects.filter(organization_id__in=ids, at__gt=at - LATELY)
    counted = (
        records.order_by()
        .values("organization_id")
        .annotate(
            searches=Count("pk"),
            degraded=Count("pk", filter=~Q(degraded=[])),
            unanswered=Count("pk", filter=Q(status__in=["timeout", "unavailable"])),
        )
    )
    return {row.pop("organization_id"): row for row in map(dict[str, Any], counted)}


def _counted(name: str) -> float:
    return registry().get_sample_value(name) or 0.0
