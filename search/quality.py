"""The page "Runs and drift": what was measured last, and how live searches fare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from search.drawing import Picture, picture
from search.drift import MOST, RANGES, STEPS, Drift, Fared, drift
from search.runs import METRICS, last_runs
from tenants.admin_authority import at_of, authority_of, organizations_seen
from tenants.admin_site import our_site, own_transaction
from tenants.isolation import organization_context
from tenants.models import Organization, PhoneAgent, Role

USUAL_DAYS: Final = 30
NAMES: Final = {
    "embed": gettext_lazy("Embedding"),
    "scope": gettext_lazy("Scope"),
    "candidates": gettext_lazy("Finding"),
    "fuse": gettext_lazy("Ranking"),
    "render": gettext_lazy("Reading"),
}


@dataclass(frozen=True)
class Chosen:
    """What the page is about."""

    organization: Organization
    agents: Sequence[PhoneAgent]
    agent: PhoneAgent | None
    days: int


@own_transaction
def show_quality(request: HttpRequest) -> HttpResponse:
    """Show the last runs and, for one organization, the drift of its searches."""
    if not authority_of(request).has_somewhere(Role.VIEWER):
        raise PermissionDenied
    organizations = organizations_seen(request, Role.VIEWER)
    chosen = _chosen(request, organizations)
    agent_id = chosen.agent.pk if chosen.agent else None
    found = drift(chosen.organization.pk, days=chosen.days, at=at_of(request), agent_id=agent_id)
    context = {
        **our_site().each_context(request),
        "title": _("Runs and drift"),
        "organizations": organizations,
        "chosen": chosen,
        "ranges": RANGES,
        "drift": found,
        "most": MOST,
        "shares": _shares(found),
        "times": _times(found),
        "rows": [(day, _told(fared)) for day, fared in reversed(found.days)],
        "agent_rows": _by_agent(found, chosen.agents),
        "whole": _told(found.all),
        "step_names": [NAMES[step] for step in STEPS],
        "lately": _lately(found),
        "runs": last_runs(),
        "metrics": METRICS,
    }
    return TemplateResponse(request, "search/quality.html", context)


def _chosen(request: HttpRequest, organizations: Sequence[Organization]) -> Chosen:
    """Return what the address names; another organization and another's agent are as absent as none."""
    slug = request.GET.get("organization", "")
    organization = next((one for one in organizations if one.slug == slug or not slug), None)
    if organization is None:
        raise Http404
    with organization_context(organization.pk):
        agents = list(PhoneAgent.objects.filter(organization=organization).order_by("name", "pk"))
    wanted = request.GET.get("agent", "")
    agent = next((one for one in agents if one.slug == wanted), None)
    if wanted and agent is None:
        raise Http404
    days = request.GET.get("days", "")
    return Chosen(
        organization, agents, agent, int(days) if days in map(str, RANGES) else USUAL_DAYS
    )


@dataclass(frozen=True)
class Told:
    """Figures of some searches, with a spread for each step in the order of STEPS."""

    fared: Fared
    steps: list[Any]


def _told(fared: Fared) -> Told:
    return Told(fared, [fared.steps.get(step) for step in STEPS])


def _by_agent(found: Drift, agents: Sequence[PhoneAgent]) -> list[tuple[str, Told]]:
    names: dict[UUID, str] = {agent.pk: agent.name for agent in agents}
    rows = [
        (names.get(pk, "") if pk else _("An agent that is gone"), _told(fared))
        for pk, fared in found.agents
    ]
    return sorted(rows, key=lambda row: (-row[1].fared.searches, row[0]))


def _shares(found: Drift) -> Picture | None:
    series: dict[str, tuple[Any, Callable[[Fared], float | None]]] = {
        "no-match": (_("no match"), lambda fared: fared.no_match_percent),
        "weak": (_("weak"), lambda fared: fared.weak_percent),
        "degraded": (_("degraded"), lambda fared: fared.degraded_percent),
    }
    return _drawn(found, series, "%")


def _times(found: Drift) -> Picture | None:
    series: dict[str, tuple[Any, Callable[[Fared], float | None]]] = {
        "p50": (_("half of them"), lambda fared: fared.total.p50 if fared.total else None),
        "p95": (_("95 of 100"), lambda fared: fared.total.p95 if fared.total else None),
    }
    return _drawn(found, series, _("ms"))


def _drawn(
    found: Drift, series: dict[str, tuple[Any, Callable[[Fared], float | None]]], unit: str
) -> Picture | None:
    days = [day for day, _fared in found.days]
    values = {
        name: (str(label), [value(fared) for _day, fared in found.days])
        for name, (label, value) in series.items()
    }
    return picture(days, values, unit)


def _lately(found: Drift) -> tuple[float, float] | None:
    """Return the share without a match in the newest week and before it, where there is both."""
    if not found.days:
        return None
    border = found.days[-1][0] - timedelta(days=7)
    newer = [fared for day, fared in found.days if day > border]
    older = [fared for day, fared in found.days if day <= border]
    if not older:
        return None
    return _missed(newer), _missed(older)


def _missed(found: Sequence[Fared]) -> float:
    return 100 * sum(one.no_match for one in found) / sum(one.searches for one in found)
