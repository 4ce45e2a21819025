"""What the pages about people share: whose they are, who may use them, and how they are shown."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from tenants.admin_authority import authority_of, organizations_seen
from tenants.admin_lists import chosen_organization
from tenants.admin_site import our_site
from tenants.models import Organization, Role, User
from tenants.people.members import roles_held


def organization_chosen(request: HttpRequest) -> Organization:
    """Return the organization that the list shows: named in the address, else the first."""
    if not authority_of(request).has_somewhere(Role.ADMIN):
        raise PermissionDenied
    mine = organizations_seen(request, Role.ADMIN)
    chosen = chosen_organization(request) if "organization" in request.GET else mine[0].pk
    found = next((one for one in mine if one.pk == chosen), None)
    if found is None:
        raise Http404
    return found


def organization_named(request: HttpRequest, slug: str) -> Organization:
    """Return the organization in an address; one that is not the person's is not there."""
    seen = {one.slug: one for one in organizations_seen(request, Role.VIEWER)}
    if slug not in seen:
        raise Http404
    if not authority_of(request).has(Role.ADMIN, seen[slug].pk):
        raise PermissionDenied
    return seen[slug]


def member_named(organization: Organization, person_id: int) -> tuple[User, frozenset[str]]:
    """Return a member with the roles that were given; somebody else's member is not there."""
    held = roles_held(organization.pk, person_id)
    person = User.objects.filter(pk=person_id).first() if held else None
    if person is None:
        raise Http404
    return person, held


def shown(
    request: HttpRequest, template: str, title: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Return a page of the site."""
    everything = {**our_site().each_context(request), "title": title, **context}
    return TemplateResponse(request, f"people/{template}", everything, status=status)
