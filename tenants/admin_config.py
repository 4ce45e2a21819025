"""Makes Earmark's own admin site the one that Django's `admin.site` is."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class EarmarkAdminConfig(AdminConfig):
    """The admin app with our site."""

    default_site = "tenants.admin_site.EarmarkSite"
