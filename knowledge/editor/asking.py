"""What the pages of instructions share: whose they are, who may do what, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from knowledge.editor.holding import Hand
from knowledge.models import Instruction, InstructionDirectory
from tenants.admin_authority import actor_of, at_of, authority_of, organizations_seen
from tenants.admin_lists import chosen_organization
from tenants.admin_site import our_site
from tenants.isolation import organization_context
from tenants.models import Organization, Role

# Any of these roles is enough.
WRITES: Final = frozenset({Role.EDITOR, Role.AUTHOR})
PUBLISHES: Final = frozenset({Role.PUBLISHER})
FILES: Final = frozenset({Role.EDITOR, Role.PUBLISHER})


@contextmanager
def in_own_organizations(request: HttpRequest) -> Iterator[None]:
    """Open the context of the organizations that a person may look into."""
    with organization_context(*authority_of(request).organizations(Role.VIEWER)):
        yield


def find_instruction(request: HttpRequest, pk: UUID) -> Instruction:
    """Return an instruction of the person's organizations, deleted or not; there is no other."""
    seen = authority_of(request).organizations(Role.VIEWER)
    rows = Instruction.objects.select_related("organization", "directory")
    found = rows.filter(pk=pk, organization_id__in=seen).first()
    if found is None:
        raise Http404
    return found


def find_directory(
    request: HttpRequest, pk: UUID, *, deleted: bool = False
) -> InstructionDirectory:
    """Return a directory of the person's organizations; there is no other."""
    seen = authority_of(request).organizations(Role.VIEWER)
    rows = InstructionDirectory.every.select_related("organization", "parent")
    found = rows.filter(pk=pk, organization_id__in=seen, deleted_at__isnull=not deleted).first()
    if found is None:
        raise Http404
    return found


def organization_of(
    request: HttpRequest, roles: frozenset[str] = frozenset({Role.VIEWER})
) -> Organization:
    """Return the organization that a list or a new row is about: named in the address, else the first."""
    authority = authority_of(request)
    if not any(authority.has_somewhere(role) for role in roles):
        raise PermissionDenied
    seen = organizations_seen(request, Role.VIEWER)
    chosen = chosen_organization(request)
    found = next((one for one in seen if one.pk == chosen), None)
    if found is None:
        raise Http404
    require(request, roles, found.pk)
    return found


def roles_of(request: HttpRequest, organization_id: int) -> frozenset[str]:
    """Return the person's roles in an organization."""
    return frozenset(authority_of(request).roles.get(organization_id, ()))


def require(request: HttpRequest, roles: frozenset[str], organization_id: int) -> None:
    """Refuse a person without any of the roles with the page that says so."""
    if not roles & roles_of(request, organization_id):
        raise PermissionDenied


def directory_named(
    request: HttpRequest, organization: Organization
) -> InstructionDirectory | None:
    """Return the directory that `at` in the address names; None for the top."""
    text = request.GET.get("at", "")
    if not text:
        return None
    try:
        found = find_directory(request, UUID(text))
    except ValueError:
        raise Http404 from None
    if found.organization_id != organization.pk:
        raise Http404
    return found


def hand_of(request: HttpRequest) -> Hand:
    """Return who acts behind a request, and when."""
    return Hand(actor_of(request), at_of(request))


def shown(
    request: HttpRequest, template: str, title: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Return a page, rendered while its rows can be read."""
    everything = {**our_site().each_context(request), "title": title, **context}
    response = TemplateResponse(request, f"knowledge/editor/{template}", everything, status=status)
    return response.render()
