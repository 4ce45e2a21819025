"""Calls in the admin: who called which agent, and what it could search at that moment; read only."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin

from tenants.admin_base import ReadOnlyAdmin
from voiceapi.models import VoiceSession


@admin.register(VoiceSession)
class VoiceSessionAdmin(ReadOnlyAdmin):
    """One call of one agent."""

    list_display = ("created_at", "call_id", "agent", "contact", "channel", "country", "ended_at")
    list_display_links = ("created_at",)
    list_select_related = ("agent", "contact")
    ordering = ("-created_at", "id")
    fields: ClassVar[Any] = (
        "organization", "agent", "contact", "call_id", "channel", "country", "language", "kid",
        "created_at", "expires_at", "ended_at", "snapshot",
    )  # fmt: skip
