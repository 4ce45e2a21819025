"""The version of a scope from which on folders have the keys that they have now; NULL while none was moved."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scopes", "0005_legs_of_a_look")]

    operations = [
        migrations.AddField(
            "agentscope",
            "moved_version",
            models.BigIntegerField(blank=True, editable=False, null=True),
        ),
    ]
