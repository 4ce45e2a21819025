"""The coverage page: what is asked, what answers it, and a draft for what nothing answers."""

from __future__ import annotations

from typing import Final

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from golden.coverage import GOLDEN, KNOWLEDGE, NOTHING, Group, coverage
from golden.remembering import COUNTS
from golden.staff.asking import in_own_organizations, organization_of, roles_of, shown
from knowledge.embedding.selection import current_embedder
from tenants.admin_authority import at_of
from tenants.admin_site import own_transaction
from tenants.models import Organization

PER_PAGE: Final = 50
_ANSWERED: Final = (GOLDEN, KNOWLEDGE, NOTHING)


@own_transaction
def show_coverage(request: HttpRequest) -> HttpResponse:
    """Show the questions of the last 30 days; no transaction is open while they are embedded."""
    with in_own_organizations(request):
        organization = organization_of(request)
    asked = COUNTS.asked(
        organization.pk, current_embedder(), at=at_of(request), anew="anew" in request.GET
    )
    wanted = request.GET.get("answered", "")
    wanted = wanted if wanted in _ANSWERED else ""
    groups = [group for group in asked.groups if not wanted or group.answered[wanted]]
    page = Paginator(groups, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "organization": organization,
        "coverage": coverage(organization.pk, asked),
        "page": page,
        "rows": [(group, _draft_address(organization, group)) for group in page.object_list],
        "wanted": wanted,
        "roles": roles_of(request, organization.pk),
    }
    with in_own_organizations(request):
        return shown(request, "coverage.html", _("Coverage"), context)


def _draft_address(organization: Organization, group: Group) -> str:
    brought = {"organization": organization.slug, **group.brought}
    return f"{reverse('admin:golden_new')}?{urlencode(brought)}"
