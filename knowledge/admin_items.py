"""Items in the admin: written by staff, filed, gated and approved."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.admin_filters import FolderFilter, IndexFilter, WithdrawnFilter
from knowledge.admin_gates import FIELDSETS, GatedForm
from knowledge.admin_truth import TruthAdmin
from knowledge.errors import FolderRefused
from knowledge.folders import folder_key
from knowledge.indexing.writing import Gates, ItemContent, Limit, write_item
from knowledge.models import Category, Item, ItemKind, ReviewStatus
from knowledge.reserved import is_reserved
from knowledge.shelving.errors import NotOurs
from tenants.admin_authority import at_of
from tenants.admin_lists import OrganizationFilter

COLUMNS: Final = (
    "title", "body", "folder_key", "language", "url", "review_status", "visibility",
    "channel_restricted", "channels", "segment_restricted", "segments", "jurisdiction_restricted",
    "jurisdictions", "agent_restricted", "agents", "valid_from", "valid_until",
)  # fmt: skip

# What is done here to golden answers and corrections, which have verbs of their own.
_LEFT_OPEN: Final = frozenset({"retry"})


class ItemForm(GatedForm):
    """An item, filed by a path below its source."""

    folder = forms.CharField(
        label=_("Folder"),
        required=False,
        max_length=1000,
        help_text=_("The path below the source: cards/voyager. Empty for the source itself."),
        widget=forms.TextInput(attrs={"dir": "auto", "class": "vTextField"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "folder" in self.fields and not self.instance._state.adding:
            self.fields["folder"].initial = self.instance.folder_key.partition("/")[2]

    def clean(self) -> dict[str, Any]:
        """File the item under the canonical key."""
        told = super().clean()
        source = told.get("source") or (self.instance.source_id and self.instance.source)
        if source and self.instance._state.adding and is_reserved(source):
            self.add_error("source", gettext(str(NotOurs())))
        if source and "folder" in told:
            try:
                self.instance.folder_key = folder_key(source.slug, told["folder"])
            except FolderRefused as refusal:
                self.add_error("folder", gettext(str(refusal)))
        return told


@admin.register(Item)
class ItemAdmin(TruthAdmin):
    """The items of an organization, newest change first."""

    category: ClassVar[str] = Category.KNOWLEDGE
    subject = "item"
    form = ItemForm
    list_display = ("titled", "folder_link", "kind", "review_status", "index_chip", "updated_at")
    list_display_links = ("titled",)
    list_select_related = ("source",)
    list_filter: ClassVar[Any] = (
        OrganizationFilter, FolderFilter, "review_status", "kind", "dataset", IndexFilter,
        WithdrawnFilter,
    )  # fmt: skip
    autocomplete_fields = ("source",)
    actions: Any = ("approve_selected", "reject_selected", *TruthAdmin.actions)
    readonly_fields = (
        "kind", "dataset", "parse_status", "external_id", "uploader", "source_tag", "updated_at",
        "index_chip", "segment_names", "agent_names",
    )  # fmt: skip

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return what is asked of a new item, and what is told of one that is there."""
        text = ("organization", "source", "folder", "title", "body", "language", "url")
        agents = (_("Which agents"), {"fields": (("agent_restricted", "agents"),)})
        if obj is None:
            return ((None, {"fields": (*text, "review_status")}), *FIELDSETS, agents)
        told = ("index_chip", "kind", "dataset", "parse_status", "external_id", "uploader",
                "source_tag", "updated_at")  # fmt: skip
        if not self.has_change_permission(request, obj):
            return _reading((*text, "review_status"), told)
        return (
            (None, {"fields": (*text, "review_status")}),
            *FIELDSETS,
            agents,
            (_("Known about it"), {"fields": told}),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep an item in its source: (source, external id) is its name."""
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "source"] if obj is not None else fields

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the person may change it here."""
        ours = obj is None or self.allows("change", obj)
        return ours and super().has_change_permission(request, obj)

    def allows(self, verb: str, row: Any) -> bool:
        """Keep to what a kind leaves open: the rest is published, or approved by a second person."""
        return row.kind == ItemKind.KNOWLEDGE or verb in _LEFT_OPEN

    @admin.display(description=_("folder"))
    def folder_link(self, item: Item) -> SafeString:
        """Return the folder as a link to what is in it."""
        address = reverse("admin:knowledge_item_changelist")
        query = urlencode({"folder": item.folder_key})
        return format_html('<a href="{}?{}" dir="auto">{}</a>', address, query, item.folder_key)

    @admin.display(description=_("folder"))
    def folder(self, item: Item) -> str:
        """Return the whole key, for those who only read."""
        return item.folder_key

    def save_model(self, request: HttpRequest, obj: Item, form: Any, change: bool) -> None:  # noqa: FBT001
        """Write the item by its verb."""
        if change:
            self.change_row(request, obj, {name: getattr(obj, name) for name in COLUMNS})
            return
        written = write_item(_content(obj, uploader_id=request.user.pk), at=at_of(request))
        obj.pk = written.id
        obj.refresh_from_db()

    @admin.action(description=_("Approve"), permissions=["change"])
    def approve_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Let the chosen items be served."""
        self._each(request, queryset, "approve")

    @admin.action(description=_("Reject"), permissions=["change"])
    def reject_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Keep the chosen items from being served."""
        self._each(request, queryset, "reject")

    def approve(self, request: HttpRequest, item: Item) -> str:
        """Let an item be served."""
        return self._review(request, item, ReviewStatus.APPROVED)

    def reject(self, request: HttpRequest, item: Item) -> str:
        """Keep an item from being served."""
        return self._review(request, item, ReviewStatus.REJECTED)

    def _review(self, request: HttpRequest, item: Item, status: str) -> str:
        before = {"review_status": self.locked(item).review_status}
        self.change_row(request, item, {"review_status": status})
        self.note(request, item, "review", {"before": before, "after": {"review_status": status}})
        return "Reviewed."


def _reading(text: tuple[str, ...], told: tuple[str, ...]) -> Any:
    gates = (
        "visibility", "channel_restricted", "channels", "segment_restricted", "segment_names",
        "jurisdiction_restricted", "jurisdictions", "agent_restricted", "agent_names",
        "valid_from", "valid_until",
    )  # fmt: skip
    return ((None, {"fields": (*text, *gates, *told)}),)


def _content(item: Item, *, uploader_id: int | None) -> ItemContent:
    return ItemContent(
        organization_id=item.organization_id,
        source_id=item.source_id,
        external_id=f"staff-{uuid.uuid4()}",
        title=item.title,
        body=item.body,
        folder_key=item.folder_key,
        language=item.language,
        url=item.url,
        gates=gates_of(item),
        agents=Limit(item.agent_restricted, tuple(item.agents)),
        review_status=item.review_status,
        uploader_id=uploader_id,
    )


def gates_of(row: Any) -> Gates:
    """Return the gates of a row that a form has filled in."""
    return Gates(
        visibility=row.visibility,
        channels=Limit(row.channel_restricted, tuple(row.channels)),
        segments=Limit(row.segment_restricted, tuple(row.segments)),
        jurisdictions=Limit(row.jurisdiction_restricted, tuple(row.jurisdictions)),
        valid_from=row.valid_from,
        valid_until=row.valid_until,
    )
