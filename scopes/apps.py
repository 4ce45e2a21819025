"""Django's name for this package."""

from __future__ import annotations

from django.apps import AppConfig


class ScopesConfig(AppConfig):
    """The `scopes` app."""

    name = "scopes"
    label = "scopes"
    verbose_name = "Scopes of agents"
    default_auto_field = "django.db.models.BigAutoField"
