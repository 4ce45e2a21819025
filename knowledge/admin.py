"""Content, its places and its records in the admin; and what of them needs attention."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from knowledge.admin_imports import UploadForm
from knowledge.admin_instructions import InstructionAdmin
from knowledge.admin_items import ItemAdmin
from knowledge.admin_places import DirectoryAdmin, SegmentAdmin, SourceAdmin
from knowledge.admin_records import IndexStateAdmin
from knowledge.admin_sources import SourceScheduleAdmin
from knowledge.admin_spaces import add_pages as add_space_pages
from knowledge.browser.pages import add_browser
from knowledge.models import ImportFailure, IndexState, SourceSchedule
from tenants.admin_authority import organizations_seen
from tenants.admin_lists import ORGANIZATION
from tenants.admin_site import Notice, our_site
from tenants.models import Role

__all__ = [
    "DirectoryAdmin",
    "IndexStateAdmin",
    "InstructionAdmin",
    "ItemAdmin",
    "SegmentAdmin",
    "SourceAdmin",
    "SourceScheduleAdmin",
    "UploadForm",
]
_MOST_COUNTED = 100


def attention(request: HttpRequest) -> list[Notice]:
    """Return failed index rows and failed imports, by organization.

    Cost: two short statements for each organization.
    """
    notices = []
    for organization in organizations_seen(request, Role.VIEWER)[:20]:
        rows = (
            (
                _("%(organization)s: %(many)s failed to index"),
                IndexState,
                {"status": IndexState.Status.FAILED},
            ),
            (
                _("%(organization)s: %(many)s failed to import"),
                ImportFailure,
                {"resolved_at": None},
            ),
            (
                _("%(organization)s: %(many)s sources failed"),
                SourceSchedule,
                {"last_outcome": "failed"},
            ),
            (
                _("%(organization)s: %(many)s sources ask"),
                SourceSchedule,
                {"last_outcome": "needs_confirmation"},
            ),
        )
        for what, model, where in rows:
            found = model._default_manager.filter(organization=organization, **where)
            count = found.values("pk")[: _MOST_COUNTED + 1].count()
            if count:
                many = _("more than %s") % _MOST_COUNTED if count > _MOST_COUNTED else count
                url = reverse(f"admin:knowledge_{model._meta.model_name}_changelist")
                text = what % {"organization": organization, "many": many}
                notices.append(Notice(text, f"{url}?{ORGANIZATION}={organization.slug}"))
    return notices


our_site().add_watch(attention)
add_space_pages()
add_browser()
