"""A second embedding space beside the first: how its model is asked, and what it still lacks."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0010_bulk_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="embeddingspace",
            name="activated_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="embeddingspace",
            name="asks_dimensions",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="embeddingspace",
            name="base_url",
            field=models.CharField(blank=True, max_length=400),
        ),
        migrations.AddField(
            model_name="embeddingspace",
            name="left_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="embeddingspace",
            name="passage_prefix",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="embeddingspace",
            name="query_prefix",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="searchrecord",
            name="space",
            field=models.CharField(blank=True, db_default="", max_length=200),
        ),
        migrations.AlterField(
            model_name="embeddingspace",
            name="status",
            field=models.CharField(
                choices=[
                    ("created", "Created"),
                    ("filling", "Filling"),
                    ("active", "Active"),
                    ("kept", "Kept"),
                    ("dropping", "Dropping"),
                    ("retired", "Retired"),
                ],
                default="created",
                max_length=16,
            ),
        ),
        migrations.CreateModel(
            name="SpaceGap",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "category",
                    models.CharField(
                        choices=[("instruction", "Instruction"), ("knowledge", "Knowledge")],
                        max_length=16,
                    ),
                ),
                ("asset_id", models.UUIDField()),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("error_code", models.CharField(blank=True, max_length=64)),
                ("error", models.TextField(blank=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="tenants.organization"
                    ),
                ),
                (
                    "space",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="knowledge.embeddingspace"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["space", "organization", "next_attempt_at"],
                        name="knowledge_gap_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "space", "asset_id"), name="knowledge_gap_once"
                    )
                ],
            },
        ),
    ]
