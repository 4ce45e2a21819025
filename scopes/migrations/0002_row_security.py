"""Selections are seen by their organization only."""

from __future__ import annotations

from django.db import migrations

from tenants.isolation import row_security


class Migration(migrations.Migration):
    dependencies = [("scopes", "0001_initial")]

    operations = [
        row_security(
            "scopes_agentscope",
            "scopes_instructionpick",
            "scopes_directorypick",
            "scopes_itempick",
            "scopes_folderpick",
        )
    ]
