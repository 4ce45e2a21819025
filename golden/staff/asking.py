"""What the pages of answers share: whose answer it is, who may do what, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from golden.acting import Act
from golden.finding import title_of
from golden.models import AssetKind, GoldenAnswer
from knowledge.admin_chips import chip
from knowledge.models import IndexState
from tenants.admin_authority import actor_of, at_of, authority_of, organizations_seen
from tenants.admin_lists import chosen_organization
from tenants.admin_site import our_site
from tenants.isolation import organization_context
from tenants.models import Organization, Role

WRITES: Final = (Role.AUTHOR, Role.APPROVER, Role.PUBLISHER)


@contextmanager
def in_own_organizations(request: HttpRequest) -> Iterator[None]:
    """Open the context of the organizations that a person may look into."""
    with organization_context(*authority_of(request).organizations(Role.VIEWER)):
        yield


def find_answer(request: HttpRequest, golden_id: UUID) -> GoldenAnswer:
    """Return an answer of the person's organizations; there is no other."""
    seen = authority_of(request).organizations(Role.VIEWER)
    rows = GoldenAnswer.objects.select_related("organization", "published_version", "owner")
    found = rows.filter(pk=golden_id, organization_id__in=seen).first()
    if found is None:
        raise Http404
    return found


def require_role(request: HttpRequest, role: str, organization_id: int) -> None:
    """Refuse a person without the role with the page that says so."""
    if not authority_of(request).has(role, organization_id):
        raise PermissionDenied


def roles_of(request: HttpRequest, organization_id: int) -> frozenset[str]:
    """Return the person's roles in an organization."""
    return frozenset(authority_of(request).roles.get(organization_id, ()))


def organization_of(request: HttpRequest, role: str = Role.VIEWER) -> Organization:
    """Return the organization that a list or a new answer is about."""
    chosen = chosen_organization(request)
    found = [one for one in organizations_seen(request, role) if one.pk == chosen]
    if not found and not authority_of(request).has_somewhere(role):
        raise PermissionDenied
    if not found:
        raise Http404
    return found[0]


def kind_of(request: HttpRequest) -> str:
    """Return whether a list, a new one or a file is about answers or about rules."""
    return AssetKind.RULE if request.GET.get("kind") == "rule" else AssetKind.ANSWER


def act_of(
    request: HttpRequest,
    reason: str = "",
    expects: int | None = None,
    noted: dict[str, Any] | None = None,
) -> Act:
    """Return the act of the person behind a request."""
    return Act(actor_of(request), at_of(request), reason, expects, noted)


def shown(
    request: HttpRequest, template: str, title: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Return a page, rendered while its rows can be read."""
    everything = {**our_site().each_context(request), "title": title, **context}
    response = TemplateResponse(request, f"golden/{template}", everything, status=status)
    return response.render()


def name_of(golden: GoldenAnswer) -> str:
    """Return the name of an answer in a title."""
    return title_of(golden)


def attach_chips(request: HttpRequest, answers: Iterable[GoldenAnswer]) -> None:
    """Give every answer the chip of its index entry.

    Cost: one statement for all of them.
    """
    listed = list(answers)
    states = IndexState.objects.filter(
        organization_id__in={one.organization_id for one in listed},
        asset_id__in=[one.item_id for one in listed if one.item_id],
    )
    by_asset = {state.asset_id: state for state in states}
    for one in listed:
        state = by_asset.get(one.item_id) if one.item_id else None
        one.index_chip = _chip(request, one, state)  # type: ignore[attr-defined]
        one.index_state = state  # type: ignore[attr-defined]


def _chip(request: HttpRequest, golden: GoldenAnswer, state: IndexState | None) -> SafeString | str:
    if golden.kind == AssetKind.RULE:
        return _("In prompts") if golden.published_version_id else ""
    if golden.item_id is None:
        return ""
    return chip(state, at=at_of(request))
