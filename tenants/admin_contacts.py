"""Contacts in the admin, with the segments they are in."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from tenants.admin_base import TenantAdmin
from tenants.admin_forms import RowsField, TenantForm
from tenants.models import Contact, ContactSegment, Segment


class ContactForm(TenantForm):
    """A contact with the segments it is in."""

    in_segments = RowsField(label=_("Segments"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = Segment.objects.select_related("organization")
        field = self.fields.get("in_segments")
        if not isinstance(field, RowsField):
            return
        if not self.instance._state.adding:
            offered = offered.filter(organization_id=self.instance.organization_id)
            field.initial = list(self.instance.places.values_list("segment_id", flat=True))
        several = offered.values("organization_id").distinct().count() > 1
        field.offer(offered, _with_organization if several else str)

    def clean(self) -> dict[str, Any]:
        """Refuse segments of another organization."""
        told = super().clean() or {}
        organization = told.get("organization") or self.instance.organization_id
        wanted = told.get("in_segments") or []
        found = Segment.objects.filter(organization=organization, pk__in=wanted).count()
        if organization and found != len(wanted):
            self.add_error(
                "in_segments", forms.ValidationError(_("Belongs to another organization."))
            )
        return told


def _with_organization(segment: Segment) -> str:
    return f"{segment.organization}: {segment}"


@admin.register(Contact)
class ContactAdmin(TenantAdmin):
    """The people who call, with their segments."""

    form = ContactForm
    list_display = ("external_id", "name", "country")
    ordering = ("external_id", "id")
    search_fields = ("external_id",)
    search_help_text = _("The contact's id as the CRM has it, or a part of the name.")
    fields: ClassVar[Any] = ("organization", "external_id", "name", "country", "in_segments")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by exact id; only when there is none, by a part of the name."""
        term = search_term.strip()
        exact = queryset.filter(external_id=term)
        if not term or exact.exists():
            return (exact if term else queryset), False
        return queryset.filter(name__icontains=term), False

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001
        """Put the contact into its segments."""
        super().save_related(request, form, formsets, change)
        contact, wanted = form.instance, set(form.cleaned_data["in_segments"])
        places = ContactSegment.objects.filter(
            organization_id=contact.organization_id, contact=contact
        )
        places.exclude(segment_id__in=wanted).delete()
        for missing in wanted - set(places.values_list("segment_id", flat=True)):
            ContactSegment.objects.create(
                organization_id=contact.organization_id, contact=contact, segment_id=missing
            )
