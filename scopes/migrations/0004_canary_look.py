"""What the newest probe for canaries came to, one row for each organization."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

from tenants.isolation import row_security


class Migration(migrations.Migration):
    dependencies = [
        ("scopes", "0003_picks_restrict"),
        ("tenants", "0005_second_factor"),
        ("knowledge", "0009_canaries"),
    ]

    operations = [
        migrations.CreateModel(
            name="CanaryLook",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("at", models.DateTimeField()),
                ("searches", models.PositiveIntegerField()),
                ("leaks", models.JSONField(default=list)),
                ("missed", models.JSONField(default=list)),
                ("leaked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="tenants.organization"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization",), name="scopes_look_once")
                ],
            },
        ),
        row_security("scopes_canarylook"),
    ]
