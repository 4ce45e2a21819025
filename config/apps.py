"""Django's name for this package."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The assembly: settings, commands and system checks."""

    name = "config"
    label = "config"

    def ready(self) -> None:
        """Make our Celery the one that a nudge is sent through."""
        import_module("config.celery")
