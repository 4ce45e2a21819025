"""Sources that are kept fresh, in the admin: how old, when next, how the last look went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince, timeuntil
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from knowledge.admin_reasons import told as told_reason
from knowledge.models import Source, SourceSchedule, UsageEntry
from knowledge.reserved import is_reserved
from knowledge.shelving.errors import NotOurs
from knowledge.sources.scheduling import ask_now, confirm, refuse
from tenants.admin_actions import Button, ButtonAdmin
from tenants.admin_authority import actor_of, at_of
from tenants.admin_base import ReadOnlyAdmin
from tenants.admin_forms import TenantForm
from tenants.admin_lists import OrganizationFilter
from tenants.models import Role

Outcome = SourceSchedule.Outcome
_COLOURS = {
    Outcome.DONE: "ok", Outcome.NEVER: "updating", Outcome.UNCERTAIN: "retrying",
    Outcome.NEEDS_CONFIRMATION: "retrying", Outcome.FAILED: "failed",
}  # fmt: skip


def _needs_confirmation(schedule: SourceSchedule) -> bool:
    return schedule.last_outcome == Outcome.NEEDS_CONFIRMATION


def _asked_about(schedule: SourceSchedule) -> str:
    return str(schedule.asked_removals)


class ScheduleForm(TenantForm):
    """A schedule is of a source that content is brought into."""

    def clean_source(self) -> Source:
        """Return the source; one that is reserved keeps the schedule that it has, so that it can be ended."""
        source: Source = self.cleaned_data["source"]
        if is_reserved(source) and source.pk != self.instance.source_id:
            raise forms.ValidationError(gettext(str(NotOurs())))
        return source


@admin.register(SourceSchedule)
class SourceScheduleAdmin(ButtonAdmin):
    """Where sources come from and how fresh they are."""

    subject = "source_schedule"
    form = ScheduleForm
    add_role = Role.EDITOR
    change_role = Role.EDITOR
    delete_role = Role.EDITOR
    list_display = ("name", "kind", "outcome", "age", "next_look", "changes")
    list_display_links = ("name",)
    list_select_related = ("source",)
    list_filter: ClassVar[Any] = (OrganizationFilter, "kind", "last_outcome")
    ordering = ("source__slug", "id")
    autocomplete_fields = ("source",)
    fields: ClassVar[Any] = (
        "organization", "source", "kind", "config", "every_minutes", "is_active", "outcome", "age",
        "next_look", "changes",
    )  # fmt: skip
    readonly_fields = ("outcome", "age", "next_look", "changes")
    buttons: ClassVar[Sequence[Button]] = (
        Button("sync_now", _("Sync now"), Role.EDITOR),
        Button("agree", _("Agree to the removals"), Role.EDITOR, _needs_confirmation, _asked_about),
        Button("keep", _("Keep what is gone"), Role.EDITOR, _needs_confirmation, _asked_about),
    )

    def beside(self, request: HttpRequest, rows: list[Any]) -> None:
        """Give the rows of a page the instant they are looked at."""
        for row in rows:
            row.looked_at = at_of(request)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the row with the instant it is looked at, or answer 404."""
        row = super().get_object(request, object_id, from_field)
        self.beside(request, [row])
        return row

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001
        """Look at a new source soon."""
        if not change or "config" in form.changed_data:
            obj.next_run_at = at_of(request)
        super().save_model(request, obj, form, change)

    @admin.display(description=_("source"))
    def name(self, schedule: SourceSchedule) -> SafeString:
        """Return the source's name in its own direction."""
        return format_html('<bdi dir="auto">{}</bdi>', schedule.source.name)

    @admin.display(description=_("last look"))
    def outcome(self, schedule: SourceSchedule) -> SafeString:
        """Return how the last look went, and why."""
        colour = _COLOURS[Outcome(schedule.last_outcome)]
        words = schedule.get_last_outcome_display()
        told = f"{words}: {told_reason(schedule.last_reason)}" if schedule.last_reason else words
        return format_html('<span class="chip chip--{}">{}</span>', colour, told)

    @admin.display(description=_("age"))
    def age(self, schedule: SourceSchedule) -> str:
        """Return how long ago it was last brought up to date."""
        done, at = schedule.last_done_at, getattr(schedule, "looked_at", None)
        return f"{timesince(done, at)}" if done and at else "-"

    @admin.display(description=_("next look"))
    def next_look(self, schedule: SourceSchedule) -> str:
        """Return when it is looked at next."""
        due, at = schedule.next_run_at, getattr(schedule, "looked_at", None)
        if not due or not at or not schedule.is_active:
            return gettext("only when asked")
        return gettext("now") if due <= at else gettext("in %s") % timeuntil(due, at)

    @admin.display(description=_("changes last time"))
    def changes(self, schedule: SourceSchedule) -> str:
        """Return what the last look changed."""
        found = schedule.last_changes or {}
        return (
            ", ".join(f"{count} {gettext(name)}" for name, count in found.items() if count) or "-"
        )

    def sync_now(self, request: HttpRequest, schedule: SourceSchedule) -> str:
        """Have it looked at."""
        ask_now(schedule, by=actor_of(request), at=at_of(request))
        return gettext("It is looked at as soon as a process is free.")

    def agree(self, request: HttpRequest, schedule: SourceSchedule) -> str:
        """Agree to what the last look would remove."""
        count = confirm(schedule, by=actor_of(request), at=at_of(request))
        told = ngettext(
            "{n} removal is agreed to; the source is looked at again.",
            "{n} removals are agreed to; the source is looked at again.",
            count,
        )
        return told.format(n=count)

    def keep(self, request: HttpRequest, schedule: SourceSchedule) -> str:
        """Keep what the last look would remove."""
        count = refuse(schedule, by=actor_of(request), at=at_of(request))
        told = ngettext(
            "{n} item that is gone from its source stays.",
            "{n} items that are gone from their source stay.",
            count,
        )
        return told.format(n=count)


@admin.register(UsageEntry)
class UsageAdmin(ReadOnlyAdmin):
    """Texts, tokens and calls by day and model; of them those that failed, and those for questions."""

    list_display = (
        "day", "organization", "provider", "model", "texts", "tokens", "calls", "failed_calls",
        "question_calls", "question_tokens", "cost",
    )  # fmt: skip
    list_display_links = ("day",)
    list_filter: ClassVar[Any] = (OrganizationFilter,)
    ordering = ("-day", "provider", "model", "id")
    fields: ClassVar[Any] = list_display

    @admin.display(description=_("cost"))
    def cost(self, entry: UsageEntry) -> str:
        """Return what it cost, where a price is set."""
        return f"{entry.cost_micros / 1e6:.4f}" if entry.cost_micros else "-"
