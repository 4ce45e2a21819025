"""Django's name for this package."""

from __future__ import annotations

from django.apps import AppConfig


class SearchConfig(AppConfig):
    """The `search` app."""

    name = "search"
    label = "search"
    default_auto_field = "django.db.models.BigAutoField"
