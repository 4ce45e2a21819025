"""Django's name for this package."""

from __future__ import annotations

from django.apps import AppConfig


class TenantsConfig(AppConfig):
    """The `tenants` app."""

    name = "tenants"
    label = "tenants"
    verbose_name = "Organizations and people"
    default_auto_field = "django.db.models.BigAutoField"
