"""Makes Earmark's own admin site the one that Django's `admin.site` is."""

from __future__ import annotations

from django.apps import apps
from django.contrib.admin.apps import AdminConfig

from tenants.naming import name_lazily


class EarmarkAdminConfig(AdminConfig):
    """The admin app with our site."""

    default_site = "tenants.admin_site.EarmarkSite"

    def ready(self) -> None:
        """Name everything in the reader's language, then find the admins."""
        name_lazily(apps.get_app_configs())
        super().ready()
