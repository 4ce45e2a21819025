"""Calls in the admin: who called which agent, what it could search, and what it heard; read only."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tenants.admin_actions import ButtonAdmin
from tenants.admin_base import ReadOnlyAdmin
from tenants.admin_site import our_site
from voiceapi.models import VoiceSession
from voiceapi.staff.status import leaks_noticed, status
from voiceapi.staff.views import count_searches, what_it_heard

our_site().add_page("calls/<uuid:session_id>/", what_it_heard, "call_heard")
our_site().add_page("status/", status, "status")
our_site().add_section(_("Operation"), [(_("Status"), "admin:status", "")])
our_site().add_watch(leaks_noticed)


@admin.register(VoiceSession)
class VoiceSessionAdmin(ReadOnlyAdmin, ButtonAdmin):
    """One call of one agent."""

    list_display = (
        "created_at", "call_id", "agent", "contact", "channel", "country", "ended_at", "heard",
    )  # fmt: skip
    list_display_links = ("created_at",)
    list_select_related = ("agent", "contact")
    ordering = ("-created_at", "id")
    fields: ClassVar[Any] = (
        "organization", "agent", "contact", "call_id", "channel", "country", "language", "kid",
        "created_at", "expires_at", "ended_at", "snapshot",
    )  # fmt: skip

    def beside(self, _request: HttpRequest, rows: list[Any]) -> None:
        """Count the searches of a page."""
        counts = count_searches(rows)
        for row in rows:
            row.searches = counts.get(row.pk, 0)

    def links(self, obj: Any) -> list[tuple[str, str]]:
        """Offer what the call heard."""
        return [(gettext("What did this call hear?"), reverse("admin:call_heard", args=[obj.pk]))]

    @admin.display(description=_("searches"))
    def heard(self, session: Any) -> SafeString:
        """Return the number of searches, as a link to them."""
        address = reverse("admin:call_heard", args=[session.pk])
        return format_html('<a href="{}">{}</a>', address, session.searches)
