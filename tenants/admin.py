"""Organizations and the audit trail in the admin; people, contacts and keys come from beside."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_totp.models import TOTPDevice

from tenants.admin_authority import authority_of
from tenants.admin_base import ReadOnlyAdmin, TenantAdmin
from tenants.admin_contacts import ContactAdmin
from tenants.admin_keys import ServiceKeyAdmin
from tenants.admin_people import MembershipAdmin, PersonAdmin
from tenants.admin_second_factor import second_factor
from tenants.admin_site import our_site
from tenants.models import AuditEntry, Organization, Role
from tenants.people.pages import (
    change_person,
    invite_person,
    list_people,
    press_invitation,
    remove_person,
)

__all__ = ["ContactAdmin", "MembershipAdmin", "PersonAdmin", "ServiceKeyAdmin"]

admin.site.unregister(Group)
# Whoever reads a device's row can make its codes.
admin.site.unregister(TOTPDevice)
site = our_site()
site.add_page("second-factor/", second_factor, "second_factor")
site.add_page("people/", list_people, "people")
site.add_page("people/<slug:slug>/invite/", invite_person, "people_invite")
site.add_page(
    "people/<slug:slug>/invitations/<uuid:invitation_id>/<slug:name>/",
    press_invitation,
    "people_invitation",
)
site.add_page("people/<slug:slug>/<int:person_id>/", change_person, "people_person")
site.add_page("people/<slug:slug>/<int:person_id>/remove/", remove_person, "people_remove")
site.add_section(_("People"), [(_("Members and invitations"), "admin:people", "")], Role.ADMIN)


@admin.register(Organization)
class OrganizationAdmin(TenantAdmin):
    """An organization is its own organization; operators add them, its admins describe them."""

    add_role = None
    delete_role = None
    list_filter: ClassVar[Any] = ()
    list_display = ("name", "slug", "language", "country", "is_active")
    search_fields = ("name", "slug")
    fields: ClassVar[Any] = (
        "name", "slug", "language", "country", "approval_required", "overdue_answers_lead",
        "retention_days", "code_patterns", "is_active",
    )  # fmt: skip

    def organization_of(self, obj: Organization) -> int:
        """Return itself."""
        return obj.pk

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the person's organizations."""
        seen = authority_of(request).organizations(self.view_role)
        return Organization.objects.filter(pk__in=seen)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whether the person runs this installation."""
        return authority_of(request).is_operator

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep its name on the wire; whether it is served at all is the operator's business."""
        if obj is None:
            return ()
        return ("slug",) if authority_of(request).is_operator else ("slug", "is_active")


@admin.register(AuditEntry)
class AuditAdmin(ReadOnlyAdmin):
    """Who did what."""

    list_display = ("at", "actor_label", "verb", "subject_type", "subject_id", "reason")
    list_display_links = ("at",)
    ordering = ("-at", "id")
    search_fields = ("subject_id",)
    search_help_text = _("A subject's id, a verb or a name, exactly.")
    fields: ClassVar[Any] = (
        "organization", "at", "actor_label", "verb", "subject_type", "subject_id", "reason",
        "before", "after",
    )  # fmt: skip

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find what is named exactly."""
        term = search_term.strip()
        named = Q(subject_id=term) | Q(verb=term) | Q(actor_label=term)
        return (queryset.filter(named) if term else queryset), False
