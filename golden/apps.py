"""Django's name for this package."""

from __future__ import annotations

from django.apps import AppConfig


class GoldenConfig(AppConfig):
    """The `golden` app."""

    name = "golden"
    label = "golden"
    default_auto_field = "django.db.models.BigAutoField"
