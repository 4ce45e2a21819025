"""Buttons about the index: try one answer again, or compare everything of the organization."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from golden.acting import tell
from golden.keeping import serve_again
from golden.staff.asking import (
    act_of,
    find_answer,
    in_own_organizations,
    organization_of,
    require_role,
)
from knowledge.embedding.spaces import active_space
from knowledge.indexing.reconciling import reconcile
from knowledge.indexing.state import retry_failed
from tenants.admin_authority import at_of
from tenants.admin_site import own_transaction
from tenants.models import Role


@own_transaction
def retry(request: HttpRequest, golden_id: UUID) -> HttpResponse:
    """Let the index try one answer again now."""
    with in_own_organizations(request):
        golden = find_answer(request, golden_id)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        require_role(request, Role.AUTHOR, golden.organization_id)
        if golden.item_id is not None:
            retry_failed(golden.organization_id, at=at_of(request), asset_ids=[golden.item_id])
            tell(golden, "golden.retry_index", act_of(request))
    messages.success(request, _("The index tries again now."))
    return HttpResponseRedirect(reverse("admin:golden_answer", args=[golden_id]))


@own_transaction
def compare_index(request: HttpRequest) -> HttpResponse:
    """Compare what is published with what is said and indexed, and repair what differs."""
    with in_own_organizations(request):
        organization = organization_of(request, Role.PUBLISHER)
        space = active_space()
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    again = serve_again(organization.pk, act_of(request))
    if again:
        messages.warning(request, _told_again(again))
    if space is not None:
        found = reconcile(organization.pk, space=space, at=at_of(request)).total
        sentence = ngettext("{n} difference was found.", "{n} differences were found.", found)
        messages.success(request, sentence.format(n=found))
    address = reverse("admin:golden_list")
    return HttpResponseRedirect(f"{address}?organization={organization.slug}")


def _told_again(count: int) -> str:
    sentence = ngettext(
        "{n} answer said something else than what was published; it is put right.",
        "{n} answers said something else than what was published; they are put right.",
        count,
    )
    return sentence.format(n=count)
