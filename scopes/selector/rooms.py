"""Which agent a request is about, and what the person behind it may do there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from knowledge.models import Category
from tenants.admin_authority import actor_of, at_of, authority_of
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import PhoneAgent, Role

View = Callable[..., Any]


@dataclass(frozen=True)
class Visit:
    """One request to the selector of one agent."""

    request: HttpRequest
    agent: PhoneAgent
    may_change: bool

    @property
    def at(self) -> datetime:
        """Return the instant of the request."""
        return at_of(self.request)

    @property
    def actor(self) -> Actor:
        """Return who acts."""
        return actor_of(self.request)

    @contextmanager
    def context(self) -> Iterator[None]:
        """See the rows of the agent's organization."""
        with organization_context(self.agent.organization_id):
            yield


def visit(request: HttpRequest, object_id: str) -> Visit:
    """Return the visit, or answer 404: the same for an agent that is not there and one of others."""
    authority = authority_of(request)
    seen = authority.organizations(Role.VIEWER)
    with organization_context(*seen):
        agent = (
            PhoneAgent.objects.select_related("organization")
            .filter(pk=_uuid(object_id), organization_id__in=seen)
            .first()
        )
    if agent is None:
        raise Http404
    return Visit(request, agent, authority.has(Role.ADMIN, agent.organization_id))


def part(seen: Visit, template: str, context: dict[str, Any]) -> HttpResponse:
    """Return a part of the page, which nobody keeps."""
    told = {"agent": seen.agent, "may_change": seen.may_change, **context}
    response = render(seen.request, template, told)
    response["Cache-Control"] = "no-store"
    return response


def category_in(text: str) -> str:
    """Return the category that an address names, or answer 404."""
    if text not in Category.values:
        raise Http404
    return text


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
