"""Django's name for this package."""

from __future__ import annotations

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The assembly: settings, commands and system checks."""

    name = "config"
    label = "config"
