"""The coverage page: what is asked, what answers it, and a draft for what nothing answers."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from golden.coverage import coverage
from golden.staff.asking import in_own_organizations, organization_of, roles_of, shown
from knowledge.embedding.selection import current_embedder
from tenants.admin_authority import at_of
from tenants.admin_site import own_transaction


@own_transaction
def show_coverage(request: HttpRequest) -> HttpResponse:
    """Show the questions of the last 30 days; no transaction is open while they are embedded."""
    with in_own_organizations(request):
        organization = organization_of(request)
    found = coverage(organization.pk, current_embedder(), at=at_of(request))
    wanted = request.GET.get("answered", "")
    groups = [group for group in found.groups if not wanted or group.answered.get(wanted)]
    address = reverse("admin:golden_new")
    rows = [
        (group, f"{address}?{urlencode({'organization': organization.slug, **group.brought})}")
        for group in groups[:100]
    ]
    context = {
        "organization": organization,
        "coverage": found,
        "rows": rows,
        "wanted": wanted,
        "roles": roles_of(request, organization.pk),
    }
    with in_own_organizations(request):
        return shown(request, "coverage.html", _("Coverage"), context)
