"""Filters and search of the long lists; each is answered by an index."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Case, Q, QuerySet, When
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.folders import ancestors, prefix_range
from knowledge.models import IndexState
from knowledge.retrieval.types import SearchStatus
from tenants.admin_authority import authority_of
from tenants.admin_lists import PagedList
from tenants.models import Role


class WithdrawnFilter(admin.SimpleListFilter):
    """Withdrawn rows are out of sight unless asked for."""

    title = _("withdrawn")
    parameter_name = "withdrawn"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Offer the withdrawn ones; "All" stands for the others."""
        return [("yes", _("Withdrawn"))]

    def choices(self, changelist: Any) -> Any:
        """Name what is shown without a choice."""
        first, *rest = super().choices(changelist)
        return iter([{**first, "display": _("In use")}, *rest])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep one kind."""
        return queryset.filter(deleted_at__isnull=self.value() != "yes")


class IndexFilter(admin.SimpleListFilter):
    """Rows by what the index says of them."""

    title = _("index")
    parameter_name = "index"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Offer every state; those that need somebody come first."""
        return [("failed", _("Failed")), ("retrying", _("Retrying")), ("pending", _("Updating"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the rows in a state, found through the state's own index."""
        if self.value() is None:
            return queryset
        seen = authority_of(request).organizations(Role.VIEWER)
        states = IndexState.objects.filter(organization_id__in=seen, status=self.value())
        return queryset.filter(pk__in=states.values("asset_id"))


class FoundList(PagedList):
    """A list that shows rows with the words in their title first, when it was searched."""

    def get_queryset(
        self, request: HttpRequest, exclude_parameters: list[str | None] | None = None
    ) -> QuerySet[Any]:
        """Order a search by title first; it holds a thousand rows at most."""
        rows = super().get_queryset(request, exclude_parameters)
        if not self.query:
            return rows
        titled = Case(When(title__icontains=self.query.strip(), then=0), default=1)
        return rows.order_by(titled, *rows.query.order_by)


class FolderFilter(admin.SimpleListFilter):
    """Items in a folder and below it; its name is a link in the list."""

    title = _("folder")
    parameter_name = "folder"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the folder that is open and those above it."""
        key = self.value()
        return [(one, one) for one in (*ancestors(key), key)] if key else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the folder's subtree."""
        key = self.value()
        if not key:
            return queryset
        low, high = prefix_range(key)
        return queryset.filter(Q(folder_key=key) | Q(folder_key__gte=low, folder_key__lt=high))


class StateFilter(admin.SimpleListFilter):
    """What needs attention, unless a state is chosen; live rows are not listed."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Offer the states of rows that are behind."""
        return [("failed", _("Failed")), ("retrying", _("Retrying")), ("pending", _("Updating"))]

    def choices(self, changelist: Any) -> Any:
        """Name what is shown without a choice."""
        first, *rest = super().choices(changelist)
        return iter([{**first, "display": _("Failed or retrying")}, *rest])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the states."""
        chosen = self.value()
        return queryset.filter(status__in=[chosen] if chosen else ["failed", "retrying"])


class ResolvedFilter(admin.SimpleListFilter):
    """What nobody has dealt with, unless asked for more."""

    title = _("dealt with")
    parameter_name = "resolved"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Offer what was dealt with."""
        return [("yes", _("Dealt with"))]

    def choices(self, changelist: Any) -> Any:
        """Name what is shown without a choice."""
        first, *rest = super().choices(changelist)
        return iter([{**first, "display": _("Open")}, *rest])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep one kind."""
        return queryset.filter(resolved_at__isnull=self.value() != "yes")


class StatusFilter(admin.SimpleListFilter):
    """How a search ended; the ways are known, so no table is read for them."""

    title = _("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer every way."""
        return [(status.value, gettext(status.value)) for status in SearchStatus]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep one way."""
        return queryset.filter(status=self.value()) if self.value() else queryset


class DoorFilter(admin.SimpleListFilter):
    """Through which door a search came."""

    title = _("door")
    parameter_name = "door"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the doors."""
        return [(door, gettext(door)) for door in ("voice", "staff", "dify", "vapi", "mcp")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep one door."""
        return queryset.filter(door=self.value()) if self.value() else queryset
