"""Who looks into whose knowledge: every page of the browser is one organization's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from knowledge.models import Item
from tenants.admin_authority import actor_of, at_of, authority_of, organizations_seen
from tenants.admin_site import our_site
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import Organization, Role


@dataclass(frozen=True)
class Visit:
    """A person's request to one organization's knowledge."""

    request: HttpRequest
    organization: Organization

    @property
    def organization_id(self) -> int:
        """Whose knowledge it is."""
        return self.organization.pk

    @property
    def may_change(self) -> bool:
        """Whether the person is an editor here."""
        return authority_of(self.request).has(Role.EDITOR, self.organization_id)

    @property
    def actor(self) -> Actor:
        """Who acts."""
        return actor_of(self.request)

    @property
    def at(self) -> datetime:
        """The instant of the request."""
        return at_of(self.request)

    def context(self) -> Any:
        """Open the organization's context."""
        return organization_context(self.organization_id)

    def shown(self, template: str, title: str, **told: Any) -> HttpResponse:
        """Return a page; needs the context open."""
        context = {
            **our_site().each_context(self.request),
            "title": title,
            "organization": self.organization,
            "may_change": self.may_change,
            **told,
        }
        return render(self.request, f"knowledge/browser_{template}.html", context)


def visit(request: HttpRequest, slug: str) -> Visit:
    """Return the visit of a viewer; an organization of others is not there."""
    seen = {one.slug: one for one in organizations_seen(request, Role.VIEWER)}
    if slug not in seen:
        raise Http404
    return Visit(request, seen[slug])


def editing(request: HttpRequest, slug: str) -> Visit:
    """Return the visit of an editor; a viewer is refused."""
    seen = visit(request, slug)
    if not seen.may_change:
        raise PermissionDenied
    return seen


def item_in(seen: Visit, item_id: Any) -> Item:
    """Return an item of the organization, deleted or not; needs the context open."""
    rows = Item.objects.select_related("source", "uploader")
    found = rows.filter(organization_id=seen.organization_id, pk=item_id).first()
    if found is None:
        raise Http404
    return found
