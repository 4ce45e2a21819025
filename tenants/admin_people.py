"""Accounts and memberships in the admin: operators make people, admins say what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from tenants.admin_authority import authority_of
from tenants.admin_base import TenantAdmin
from tenants.admin_forms import TenantForm
from tenants.admin_seen import SeenAdmin, SeenForm
from tenants.locking import lock_organization
from tenants.models import Membership, Role, User
from tenants.people.errors import LastAdmin
from tenants.people.members import is_last_admin

if TYPE_CHECKING:
    _UserAdmin = UserAdmin[User]
    _UserChangeForm = UserChangeForm[User]
else:
    _UserAdmin = UserAdmin
    _UserChangeForm = UserChangeForm


class PersonForm(SeenForm, _UserChangeForm):
    """An account; one that was closed meanwhile is not opened again by a page from before."""


@admin.register(User)
class PersonAdmin(SeenAdmin, _UserAdmin):
    """Accounts; operators only. What a person may do is in their memberships."""

    form = PersonForm
    list_display = ("username", "email", "is_active", "is_superuser")
    list_filter = ("is_active", "is_superuser")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": ("first_name", "last_name", "email")}),
        (_("Access"), {"fields": ("is_active", "is_staff", "is_superuser")}),
    )
    add_fieldsets = (
        (None, {"fields": ("username", "usable_password", "password1", "password2", "is_staff")}),
    )

    def _is_operator(self, request: HttpRequest) -> bool:
        return authority_of(request).is_operator

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Operators only."""
        return self._is_operator(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Operators only; but a member's name may be looked up among one's own people."""
        return self._is_operator(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Operators only."""
        return self._is_operator(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Operators only."""
        return self._is_operator(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody: the audit trail names people. An account is made inactive instead."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Everybody for operators, nobody for others."""
        people = super().get_queryset(request)
        return people if self._is_operator(request) else people.none()

    def user_change_password(
        self,
        request: HttpRequest,
        id: str,  # noqa: A002
        form_url: str = "",
    ) -> HttpResponse:
        """Set a password, and write nothing over that somebody else changes at that moment."""
        self._hold(request, id)
        return super().user_change_password(request, id, form_url)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the account or answer 404."""
        found = super().get_object(request, object_id, from_field)
        if found is None:
            raise Http404
        return found


def _keeps_it_administered(row: Membership) -> bool:
    """Whether the organization would have no administrator without this row."""
    return row.role == Role.ADMIN and is_last_admin(row.organization_id, row.user_id)


class MembershipForm(TenantForm):
    """A membership; the last administrator stays one."""

    def clean_role(self) -> str:
        """Refuse to leave the organization without an administrator."""
        role: str = self.cleaned_data["role"]
        row = self.instance
        if not row._state.adding and role != row.role and _keeps_it_administered(row):
            raise forms.ValidationError(_(str(LastAdmin())))
        return role


@admin.register(Membership)
class MembershipAdmin(TenantAdmin):
    """Who is what in an organization."""

    form = MembershipForm
    view_role = Role.ADMIN
    list_display = ("user", "role", "organization")
    list_select_related = ("user", "organization")
    ordering = ("user__username", "role")
    search_fields = ("user__username",)
    fields: ClassVar[Any] = ("organization", "user", "role")

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """Offer the people of one's own organizations; operators bring in others."""
        if db_field.name == "user":
            kwargs["queryset"] = self._people(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def lock(self, row: Membership) -> None:
        """Let two admins who make each other something else meet: the second is the last one."""
        lock_organization(row.organization_id)
        super().lock(row)

    def _people(self, request: HttpRequest) -> QuerySet[User]:
        authority = authority_of(request)
        everybody = User.objects.filter(is_active=True).order_by("username")
        if authority.is_operator:
            return everybody
        mine = authority.organizations(Role.ADMIN)
        return everybody.filter(memberships__organization_id__in=mine).distinct()

    def refusals(self, obj: Membership) -> Sequence[str]:
        """Return that somebody has to administer the organization."""
        return [str(_(str(LastAdmin())))] if _keeps_it_administered(obj) else []

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep the person; another person is another membership."""
        return ("organization", "user") if obj is not None else ()
