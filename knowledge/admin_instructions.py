"""Instructions in the admin."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from knowledge.admin_filters import IndexFilter, WithdrawnFilter
from knowledge.admin_gates import FIELDSETS, GatedForm
from knowledge.admin_items import gates_of
from knowledge.admin_truth import TruthAdmin
from knowledge.editor.site import add_pages
from knowledge.indexing.writing import InstructionContent, write_instruction
from knowledge.models import Category, Instruction, InstructionStatus
from tenants.admin_authority import at_of
from tenants.admin_lists import OrganizationFilter
from tenants.admin_site import our_site

COLUMNS: Final = (
    "title", "body", "directory_id", "language", "status", "visibility", "channel_restricted",
    "channels", "segment_restricted", "segments", "jurisdiction_restricted", "jurisdictions",
    "valid_from", "valid_until",
)  # fmt: skip


class InstructionForm(GatedForm):
    """An instruction; it is not restricted to agents, whose scope already picks it."""

    agents = None  # type: ignore[assignment]


@admin.register(Instruction)
class InstructionAdmin(TruthAdmin):
    """The instructions of an organization, newest change first."""

    category: ClassVar[str] = Category.INSTRUCTION
    subject = "instruction"
    form = InstructionForm
    list_display = ("titled", "directory", "status", "index_chip", "updated_at")
    list_display_links = ("titled",)
    list_select_related = ("directory",)
    list_filter: ClassVar[Any] = (OrganizationFilter, "status", IndexFilter, WithdrawnFilter)
    autocomplete_fields = ("directory",)
    actions: Any = ("publish_selected", "unpublish_selected", *TruthAdmin.actions)
    readonly_fields = ("external_id", "updated_at", "index_chip", "segment_names")

    def links(self, obj: Any) -> list[tuple[str, str]]:
        """Return the editor beside the page that says who finds a row."""
        editor = reverse("admin:instruction_show", args=[obj.pk])
        return [(str(_("Draft and publish")), editor), *super().links(obj)]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return what is asked of a new instruction, and what is told of one that is there."""
        text = ("organization", "directory", "title", "body", "language", "status")
        told = ("index_chip", "external_id", "updated_at")
        if obj is None:
            return ((None, {"fields": text}), *FIELDSETS)
        if not self.has_change_permission(request, obj):
            return _reading(text, told)
        return (
            (None, {"fields": text}),
            *FIELDSETS,
            (_("Known about it"), {"fields": told}),
        )

    def save_model(
        self,
        request: HttpRequest,
        obj: Instruction,
        form: Any,
        change: bool,  # noqa: FBT001
    ) -> None:
        """Write the instruction by its verb."""
        if change:
            self.change_row(request, obj, {name: getattr(obj, name) for name in COLUMNS})
            return
        obj.pk = write_instruction(_content(obj), at=at_of(request)).id
        obj.refresh_from_db()

    @admin.action(description=_("Publish"), permissions=["change"])
    def publish_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Let the chosen instructions be searched."""
        self._each(request, queryset, "_publish")

    @admin.action(description=_("Take back to draft"), permissions=["change"])
    def unpublish_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Keep the chosen instructions from being searched."""
        self._each(request, queryset, "_unpublish")

    def _publish(self, request: HttpRequest, row: Instruction) -> str:
        return self._put(request, row, InstructionStatus.PUBLISHED)

    def _unpublish(self, request: HttpRequest, row: Instruction) -> str:
        return self._put(request, row, InstructionStatus.DRAFT)

    def _put(self, request: HttpRequest, row: Instruction, status: str) -> str:
        before = {"status": self.locked(row).status}
        self.change_row(request, row, {"status": status})
        self.note(request, row, "status", {"before": before, "after": {"status": status}})
        return "Done."


def _reading(text: Sequence[str], told: Sequence[str]) -> Any:
    gates = (
        "visibility", "channel_restricted", "channels", "segment_restricted", "segment_names",
        "jurisdiction_restricted", "jurisdictions", "valid_from", "valid_until",
    )  # fmt: skip
    return ((None, {"fields": (*text, *gates, *told)}),)


def _content(row: Instruction) -> InstructionContent:
    return InstructionContent(
        organization_id=row.organization_id,
        external_id=f"staff-{uuid.uuid4()}",
        title=row.title,
        body=row.body,
        directory_id=row.directory_id,
        language=row.language,
        gates=gates_of(row),
        status=row.status,
    )


add_pages(our_site())
