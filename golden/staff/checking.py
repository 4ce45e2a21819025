"""The page before publishing: what the draft would do; what was seen goes into the audit entry."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from golden.acting import draft_content
from golden.checks import check
from golden.finding import title_of
from golden.models import GoldenAnswer
from golden.staff.asking import find_answer, in_own_organizations, require_role, roles_of, shown
from knowledge.embedding.selection import current_embedder
from tenants.admin_authority import at_of
from tenants.admin_site import own_transaction
from tenants.models import PhoneAgent, Role

_SALT: Final = "golden.checks"
_HOURS: Final = 8


@own_transaction
def show_checks(request: HttpRequest, golden_id: UUID) -> HttpResponse:
    """Search as an agent, and show what the draft would answer, displace and contradict.

    No transaction is open while the embedder is awaited.
    """
    with in_own_organizations(request):
        golden = find_answer(request, golden_id)
        require_role(request, Role.VIEWER, golden.organization_id)
        content = draft_content(golden)
        agents = list(PhoneAgent.objects.filter(organization_id=golden.organization_id))
        title = title_of(golden)
    if content is None or not agents:
        raise Http404
    agent = _chosen(request, agents)
    agent.organization = golden.organization
    checked = check(golden, content, agent, current_embedder(), at=at_of(request))
    seen = signing.dumps([str(golden.pk), content.hash, checked.noted()], salt=_SALT)
    context = {
        "golden": golden,
        "checked": checked,
        "agents": agents,
        "agent": agent,
        "seen": urlencode({"seen": seen}),
        "roles": roles_of(request, golden.organization_id),
    }
    with in_own_organizations(request):
        return shown(request, "checks.html", _("Checks: %s") % title, context)


def _chosen(request: HttpRequest, agents: list[PhoneAgent]) -> PhoneAgent:
    wanted = request.GET.get("agent", "")
    return next((agent for agent in agents if agent.slug == wanted), agents[0])


def opened(seen: str, golden: GoldenAnswer) -> dict[str, Any] | None:
    """Return what was seen of just this answer; None when it is not ours or too old."""
    if not seen:
        return None
    try:
        pk, content_hash, noted = signing.loads(seen, salt=_SALT, max_age=_HOURS * 3600)
    except (signing.BadSignature, ValueError):
        return None
    if pk != str(golden.pk):
        return None
    return {**noted, "content": content_hash}
