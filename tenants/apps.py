"""Django's name for this package."""

from __future__ import annotations

from django.apps import AppConfig


class TenantsConfig(AppConfig):
    """The `tenants` app."""

    name = "tenants"
    label = "tenants"
    default_auto_field = "django.db.models.BigAutoField"
