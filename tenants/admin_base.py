"""The admin of a tenant row: who may do what comes from the organization of the row itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db import models
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from tenants.admin_audit import changed_values, note_act
from tenants.admin_authority import authority_of
from tenants.admin_forms import InstantInput, RowSelect, TenantForm, own_direction
from tenants.admin_lists import CappedPaginator, FilteredList, OrganizationFilter, PagedList
from tenants.admin_seen import SeenAdmin
from tenants.models import AuditEntry, Organization, Role

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin

_HISTORY_ROWS = 200


class RoleAdmin(_ModelAdmin):
    """Permissions from memberships; a row of another organization is as absent as one that never was."""

    view_role: ClassVar[str] = Role.VIEWER
    add_role: ClassVar[str | None] = Role.ADMIN
    change_role: ClassVar[str | None] = Role.ADMIN
    delete_role: ClassVar[str | None] = Role.ADMIN
    # The name under which the audit trail knows these rows.
    subject: ClassVar[str] = ""

    def organization_of(self, obj: Any) -> int:
        """Return the organization whose roles count for a row."""
        return int(obj.organization_id)

    def _may(self, request: HttpRequest, role: str | None, obj: Any = None) -> bool:
        if role is None:
            return False
        authority = authority_of(request)
        if obj is None:
            return authority.has_somewhere(role)
        return authority.has(role, self.organization_of(obj))

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whether the person may look at these rows in any organization."""
        return self._may(request, self.view_role)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the person may look."""
        return self._may(request, self.view_role, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whether the person may add in any organization; the form offers only those."""
        return self._may(request, self.add_role)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the person may change."""
        return self._may(request, self.change_role, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the person may delete."""
        return self._may(request, self.delete_role, obj)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the row, or answer 404 at once: the same whether it is not there or not theirs."""
        found = super().get_object(request, object_id, from_field)
        if found is None:
            raise Http404
        return found

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return our list."""
        return FilteredList

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return what stands against the deletion; what goes with a row is ours to say."""
        refusals = [reason for obj in objs for reason in self.refusals(obj)]
        return [str(obj) for obj in objs], {}, set(), refusals

    def refusals(self, obj: Any) -> Sequence[str]:
        """Return why a row may not be deleted; empty when it may."""
        return ()


class TenantAdmin(SeenAdmin, RoleAdmin):
    """A row with an organization: limited to the person's own, in lists, choices and searches."""

    form = TenantForm
    formfield_overrides: ClassVar[Any] = {
        models.DateTimeField: {"form_class": forms.DateTimeField, "widget": InstantInput}
    }
    paginator = CappedPaginator
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_filter: ClassVar[Any] = (OrganizationFilter,)
    delete_confirmation_template = "admin/delete_or_refuse.html"
    object_history_template = "admin/audit_history.html"

    class Media:
        js = ("js/names.js",)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        """Return the rows of the person's organizations."""
        seen = authority_of(request).organizations(self.view_role)
        return super().get_queryset(request).filter(organization_id__in=seen)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PagedList]:
        """Return our list."""
        return PagedList

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep a row in its organization."""
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "organization"] if obj is not None else fields

    def formfield_for_dbfield(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """Let texts run in their own direction."""
        if isinstance(db_field, models.URLField):
            kwargs["assume_scheme"] = "https"
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        own_direction(field, db_field)
        return field

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """Offer the organizations in which the person may add."""
        if db_field.name == "organization":
            mine = authority_of(request).organizations(self.add_role or "")
            kwargs["queryset"] = Organization.objects.filter(pk__in=mine)
            kwargs["initial"] = mine[0] if len(mine) == 1 else None
        if db_field.name in self.get_autocomplete_fields(request):
            kwargs.setdefault("widget", RowSelect(db_field, self.admin_site))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def construct_change_message(
        self,
        request: HttpRequest,
        form: forms.BaseForm,
        formsets: Any,
        add: bool = False,  # noqa: FBT001, FBT002
    ) -> Any:
        """Return what the form changed, for the audit trail."""
        return changed_values(form)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Write an addition into the audit trail."""
        self.note(request, obj, "add", message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Write a change into the audit trail."""
        self.note(request, obj, "change", message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Write deletions into the audit trail."""
        for obj in queryset:
            self.note(request, obj, "delete", {"before": {"name": str(obj)}})

    def note(self, request: HttpRequest, obj: Any, verb: str, values: Any = None) -> None:
        """Write an act on a row into the audit trail."""
        note_act(request, self.organization_of(obj), (self.subject_type, str(obj.pk)), verb, values)

    @property
    def subject_type(self) -> str:
        """The name under which the audit trail knows these rows."""
        return self.subject or str(self.opts.model_name)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """Show what the audit trail says of a row."""
        obj = self.get_object(request, object_id)
        entries = AuditEntry.objects.filter(
            organization_id=self.organization_of(obj),
            subject_type=self.subject_type,
            subject_id=str(obj.pk),
        )
        context = {
            **self.admin_site.each_context(request),
            "title": _("History: %s") % obj,
            "opts": self.opts,
            "object": obj,
            "entries": entries[:_HISTORY_ROWS],
        }
        return TemplateResponse(request, self.object_history_template, context)


class ReadOnlyAdmin(TenantAdmin):
    """Rows that people read and only Earmark writes."""

    add_role = None
    change_role = None
    delete_role = None
