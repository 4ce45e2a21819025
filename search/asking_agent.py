"""The agent that a page is about, if the person behind the request may look into its organization."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from tenants.admin_authority import authority_of
from tenants.isolation import organization_context
from tenants.models import PhoneAgent, Role


def agent_asked(request: HttpRequest, agent_id: UUID) -> PhoneAgent:
    """Return the agent; one of another organization is as absent as one that never was.

    Raises: Http404
    """
    seen = authority_of(request).organizations(Role.VIEWER)
    with organization_context(*seen):
        agent = (
            PhoneAgent.objects.select_related("organization")
            .filter(pk=agent_id, organization_id__in=seen)
            .first()
        )
    if agent is None:
        raise Http404
    return agent
