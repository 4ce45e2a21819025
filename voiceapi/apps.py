"""Django's name for this package."""

from __future__ import annotations

from django.apps import AppConfig


class VoiceApiConfig(AppConfig):
    """The `voiceapi` app."""

    name = "voiceapi"
    label = "voiceapi"
    verbose_name = "Calls"
    default_auto_field = "django.db.models.BigAutoField"
