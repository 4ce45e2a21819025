"""Sessions are seen by their organization only."""

from __future__ import annotations

from django.db import migrations

from tenants.isolation import row_security


class Migration(migrations.Migration):
    dependencies = [("voiceapi", "0001_initial")]

    operations = [row_security("voiceapi_voicesession")]
