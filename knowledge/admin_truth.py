"""What the admins of instructions and items share: verbs instead of saves, index chips, withdrawal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from knowledge.admin_chips import attach_states, chip
from knowledge.admin_filters import FoundList
from knowledge.finding import find
from knowledge.gates_form import StoredText
from knowledge.indexing.state import retry_failed
from knowledge.indexing.writing import change, restore, withdraw
from knowledge.models import IndexState, Instruction, Item
from knowledge.shelving.items import refuse_too_late
from tenants.admin_actions import Button, ButtonAdmin
from tenants.admin_authority import at_of, authority_of
from tenants.admin_lists import ORGANIZATION, PagedList, chosen_organization, rows_with
from tenants.errors import EarmarkError
from tenants.models import PhoneAgent, Role, Segment

Truth = Item | Instruction


def is_withdrawn(row: Truth) -> bool:
    """Whether a row was deleted softly."""
    return row.deleted_at is not None


def is_there(row: Truth) -> bool:
    """Whether a row was not deleted."""
    return row.deleted_at is None


def needs_retry(row: Truth) -> bool:
    """Whether the index gave up on a row, or waits to try again."""
    waiting = [IndexState.Status.FAILED, IndexState.Status.RETRYING]
    states = IndexState.objects.filter(organization_id=row.organization_id, asset_id=row.pk)
    return states.filter(status__in=waiting).exists()


class TruthAdmin(ButtonAdmin):
    """A truth row: changed by the verbs that keep its lexical entries and index state in step."""

    category: ClassVar[str]
    add_role = Role.EDITOR
    change_role = Role.EDITOR
    delete_role = None
    ordering = ("-updated_at", "id")
    sortable_by = ()
    list_defer: ClassVar[Sequence[str]] = ("body",)
    search_fields = ("title",)
    search_help_text = _("Words of the text, a part of the title, or an id.")
    actions: Any = ("withdraw_selected", "restore_selected", "retry_selected")
    buttons: ClassVar[Sequence[Button]] = (
        Button("retry", _("Retry indexing now"), Role.EDITOR, needs_retry),
        Button("withdraw", _("Withdraw"), Role.EDITOR, is_there),
        Button("restore", _("Restore"), Role.EDITOR, is_withdrawn),
    )

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PagedList]:
        """Return a list that can be searched by words."""
        return FoundList

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Read texts as they are stored: a browser's line ends are no change, hidden signs are blank."""
        if db_field.name in {"title", "body"}:
            kwargs["form_class"] = StoredText
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def beside(self, request: HttpRequest, rows: list[Any]) -> None:
        """Fetch the index states of a page."""
        attach_states(rows, at=at_of(request))

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the row with its index state, or answer 404."""
        row = super().get_object(request, object_id, from_field)
        attach_states([row], at=at_of(request))
        return row

    def links(self, obj: Truth) -> list[tuple[str, str]]:
        """Return the page that says which agents find a row."""
        page = f"admin:who_finds_{self.opts.model_name}"
        return [(str(_("Who can find this?")), reverse(page, args=[obj.pk]))]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by id, words or a part of the title."""
        if not search_term.strip():
            return queryset, False
        found = find(self.category, self._searched(request), search_term)
        return queryset.filter(pk__in=found.values("pk")), False

    def _searched(self, request: HttpRequest) -> list[int]:
        # An autocomplete field looks through all of them, a list through the one it shows.
        chosen = chosen_organization(request)
        is_list = "term" not in request.GET or ORGANIZATION in request.GET
        seen = authority_of(request).organizations(Role.VIEWER)
        return [chosen] if is_list and chosen is not None else seen

    @admin.display(description=_("index"))
    def index_chip(self, row: Any) -> SafeString:
        """Return the state of the index entry."""
        return chip(row.index_state, at=row.looked_at)

    @admin.display(description=_("title"))
    def titled(self, row: Truth) -> SafeString:
        """Return the title in its own direction."""
        return format_html('<bdi dir="auto">{}</bdi>', row.title)

    @admin.display(description=_("only for segments"))
    def segment_names(self, row: Truth) -> str:
        """Return the names of the segments it is restricted to."""
        return _names(Segment.objects.filter(pk__in=row.segments))

    @admin.display(description=_("only for agents"))
    def agent_names(self, row: Item) -> str:
        """Return the names of the agents it is restricted to."""
        return _names(PhoneAgent.objects.filter(pk__in=row.agents))

    def locked(self, row: Any) -> Any:
        """Return the row as it is now, locked."""
        return self.model._default_manager.select_for_update(of=("self",), no_key=True).get(
            pk=row.pk
        )

    def change_row(self, request: HttpRequest, row: Any, columns: dict[str, Any]) -> None:
        """Change a row by its verb, and let the form's copy follow.

        A form's row was locked before the form was compared with it, so that all columns may be written.
        """
        change(self.locked(row), at=at_of(request), **columns)
        row.refresh_from_db()

    def withdraw(self, request: HttpRequest, row: Any) -> str:
        """Delete softly."""
        withdraw(self.locked(row), at=at_of(request))
        self.note(request, row, "withdraw")
        return gettext("Withdrawn. It is gone from the next search, and can be restored.")

    def restore(self, request: HttpRequest, row: Any) -> str:
        """Take a deletion back.

        Raises: RestoreTooLate
        """
        found = self.locked(row)
        refuse_too_late(found.deleted_at, at_of(request))
        restore(found, at=at_of(request))
        self.note(request, row, "restore")
        return gettext("Restored. It can be found from the next search on.")

    def retry(self, request: HttpRequest, row: Any) -> str:
        """Try to index again now."""
        retry_failed(row.organization_id, at=at_of(request), asset_ids=[row.pk])
        self.note(request, row, "retry_index")
        return gettext("The index tries again now.")

    @admin.action(description=_("Withdraw"), permissions=["change"])
    def withdraw_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete the chosen rows softly."""
        self._each(request, queryset.filter(deleted_at=None), "withdraw")

    @admin.action(description=_("Restore"), permissions=["change"])
    def restore_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Take the deletion of the chosen rows back."""
        self._each(request, queryset.exclude(deleted_at=None), "restore")

    @admin.action(description=_("Retry indexing now"), permissions=["change"])
    def retry_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Try to index the chosen rows again."""
        self._each(request, queryset, "retry")

    def _each(self, request: HttpRequest, queryset: QuerySet[Any], verb: str) -> None:
        found = rows_with(request, Role.EDITOR, queryset)
        rows = [row for row in found if self.allows(verb, row)]
        refusals = [str(one) for row in rows if (one := self._refusal(request, row, verb))]
        count = len(rows) - len(refusals)
        told = ngettext(
            "Done for {n} of the chosen rows.", "Done for {n} of the chosen rows.", count
        )
        messages.success(request, told.format(n=count))
        for refusal in sorted(set(refusals)):
            messages.error(request, gettext(refusal))

    def _refusal(self, request: HttpRequest, row: Any, verb: str) -> EarmarkError | None:
        """Do it to one row; return why it stays as it is, if it does."""
        try:
            getattr(self, verb)(request, row)
        except EarmarkError as refusal:
            return refusal
        return None

    def allows(self, verb: str, row: Any) -> bool:
        """Whether this is done to such a row here, whoever asks."""
        return True

    def may_press(self, request: HttpRequest, button: Button, obj: Any) -> bool:
        """Whether the person may do it, and it is done here."""
        return self.allows(button.name, obj) and super().may_press(request, button, obj)


def _names(rows: QuerySet[Any]) -> str:
    return ", ".join(str(row) for row in rows) or "-"
