"""What Earmark wrote down itself: the index queue, imports, searches, spaces and profiles; read only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from knowledge.admin_chips import chip
from knowledge.admin_filters import DoorFilter, ResolvedFilter, StateFilter, StatusFilter
from knowledge.admin_imports import new_import
from knowledge.admin_reasons import told
from knowledge.indexing.state import retry_failed
from knowledge.models import (
    CalibrationProfile,
    Category,
    EmbeddingSpace,
    ImportFailure,
    ImportRun,
    IndexState,
    Instruction,
    Item,
    SearchRecord,
)
from tenants.admin_actions import Button, ButtonAdmin
from tenants.admin_authority import at_of
from tenants.admin_base import ReadOnlyAdmin, RoleAdmin
from tenants.admin_lists import CappedPaginator, OrganizationFilter, rows_with
from tenants.models import Role

WAITING: Final = (IndexState.Status.FAILED, IndexState.Status.RETRYING)


def _every_field(model: type[Any], *left_out: str) -> tuple[str, ...]:
    return tuple(f.name for f in model._meta.fields if f.name not in {"id", *left_out})


class ActingReadOnly(ReadOnlyAdmin, ButtonAdmin):
    """Rows that only Earmark writes, with a button or an action all the same."""


@admin.register(IndexState)
class IndexStateAdmin(ActingReadOnly):
    """What the index has not taken up: failed for good, or waiting to be tried again."""

    list_display = ("desired_at", "asset", "state", "attempts")
    list_display_links = ("desired_at",)
    ordering = ("-desired_at", "id")
    list_filter: ClassVar[Any] = (OrganizationFilter, StateFilter)
    actions: Any = ("retry_selected",)
    fields: ClassVar[Any] = ("asset", "state", *_every_field(IndexState))
    buttons: ClassVar[Sequence[Button]] = (
        Button("retry", _("Retry indexing now"), Role.EDITOR, lambda s: s.status in WAITING),
    )

    def beside(self, request: HttpRequest, rows: list[Any]) -> None:
        """Fetch the titles of a page."""
        for category, model in ((Category.KNOWLEDGE, Item), (Category.INSTRUCTION, Instruction)):
            ids = [row.asset_id for row in rows if row.category == category]
            titles = dict(model._default_manager.filter(pk__in=ids).values_list("pk", "title"))
            for row in rows:
                row.title = titles.get(row.asset_id, getattr(row, "title", ""))
                row.looked_at = at_of(request)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the state with its row's title, or answer 404."""
        state = super().get_object(request, object_id, from_field)
        self.beside(request, [state])
        return state

    @admin.display(description=_("of"))
    def asset(self, state: Any) -> SafeString:
        """Return the row it is about, as a link."""
        kind = "item" if state.category == Category.KNOWLEDGE else "instruction"
        address = reverse(f"admin:knowledge_{kind}_change", args=[state.asset_id])
        name = state.title or str(state.asset_id)
        return format_html('<a href="{}"><bdi dir="auto">{}</bdi></a>', address, name)

    @admin.display(description=_("state"))
    def state(self, state: Any) -> SafeString:
        """Return the state in words."""
        return chip(state, at=state.looked_at)

    def retry(self, request: HttpRequest, state: IndexState) -> str:
        """Try again now."""
        retry_failed(state.organization_id, at=at_of(request), asset_ids=[state.asset_id])
        self.note(request, state, "retry")
        return gettext("The index tries again now.")

    @admin.action(description=_("Retry indexing now"), permissions=["retry"])
    def retry_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Try the chosen ones again."""
        rows: list[Any] = rows_with(request, Role.EDITOR, queryset)
        for state in rows:
            self.retry(request, state)
        told = ngettext(
            "The index tries {n} again now.", "The index tries {n} again now.", len(rows)
        )
        messages.success(request, told.format(n=len(rows)))

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """Whether the person edits content anywhere."""
        return self._may(request, Role.EDITOR)


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    """Runs of bringing content in; adding one hands files in."""

    add_role = Role.EDITOR  # type: ignore[assignment]
    list_display = (
        "label", "progress", "status", "total", "created", "updated", "unchanged", "pruned", "failed",
        "started_at",
    )  # fmt: skip
    ordering = ("-started_at", "id")
    list_filter: ClassVar[Any] = (OrganizationFilter, "status")
    fields: ClassVar[Any] = _every_field(ImportRun)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Take files in."""
        return new_import(request)

    @admin.display(description=_("progress"))
    def progress(self, run: ImportRun) -> SafeString:
        """Return a link to the page that tells of each file."""
        address = reverse("admin:import_progress", args=[run.pk])
        return format_html('<a href="{}">{}</a>', address, _("Files"))


@admin.register(ImportFailure)
class ImportFailureAdmin(ActingReadOnly):
    """Files and lines that could not be brought in."""

    list_display = ("path", "line", "why", "run", "at", "resolved_at")
    list_select_related = ("run",)
    ordering = ("-at", "id")
    list_filter: ClassVar[Any] = (OrganizationFilter, ResolvedFilter)
    fields: ClassVar[Any] = ("why", *_every_field(ImportFailure, "reason"))
    buttons: ClassVar[Sequence[Button]] = (
        Button("resolve", _("Mark as dealt with"), Role.EDITOR, lambda f: f.resolved_at is None),
    )

    @admin.display(description=_("reason"), ordering="reason")
    def why(self, failure: ImportFailure) -> str:
        """Return the reason in the reader's language."""
        return told(failure.reason)

    def resolve(self, request: HttpRequest, failure: ImportFailure) -> str:
        """Take it off the overview."""
        ImportFailure.objects.filter(pk=failure.pk).update(resolved_at=at_of(request))
        self.note(request, failure, "resolve")
        return gettext("Marked as dealt with.")


@admin.register(SearchRecord)
class SearchRecordAdmin(ReadOnlyAdmin):
    """What was asked, redacted, and what came back."""

    list_display = ("at", "door", "status", "asked", "agent")
    list_display_links = ("at",)
    list_select_related = ("agent",)
    ordering = ("-at", "id")
    list_filter: ClassVar[Any] = (OrganizationFilter, StatusFilter, DoorFilter)
    fields: ClassVar[Any] = _every_field(SearchRecord)

    @admin.display(description=_("asked"))
    def asked(self, record: SearchRecord) -> SafeString:
        """Return the queries in one line."""
        return format_html('<bdi dir="auto">{}</bdi>', " · ".join(map(str, record.queries)))


@admin.register(CalibrationProfile)
class ProfileAdmin(ReadOnlyAdmin):
    """What was measured about a corpus."""

    list_display = ("version", "space", "passages", "is_active", "fitted_at")
    list_select_related = ("space",)
    ordering = ("-version", "id")
    fields: ClassVar[Any] = _every_field(CalibrationProfile)


@admin.register(EmbeddingSpace)
class SpaceAdmin(RoleAdmin):
    """Embedding spaces of this installation, the same for every organization."""

    add_role = None
    change_role = None
    delete_role = None
    paginator = CappedPaginator
    list_display = ("key", "status", "dimensions", "created_at")
    ordering = ("-id",)
    fields: ClassVar[Any] = _every_field(EmbeddingSpace)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the person is a member anywhere; a space belongs to no organization."""
        return self._may(request, Role.VIEWER)
