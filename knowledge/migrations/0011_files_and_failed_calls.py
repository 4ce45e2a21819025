"""Files that need not be parsed again, and what failed calls and questions cost."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

import tenants.isolation
from tenants.isolation import row_security


def _count(name):
    return migrations.AddField(
        model_name="usageentry",
        name=name,
        field=models.BigIntegerField(db_default=0, default=0),
    )


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0010_embedding_spaces"),
        ("tenants", "0004_api_tokens"),
    ]

    operations = [
        # A process of the release before goes on counting meanwhile: what it does not name is 0.
        _count("failed_calls"),
        _count("question_calls"),
        _count("question_tokens"),
        migrations.CreateModel(
            name="ImportedFile",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=400)),
                ("digest", models.CharField(max_length=64)),
                ("rows", models.JSONField(default=dict)),
                ("read_at", models.DateTimeField()),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="tenants.organization"
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="imported_files",
                        to="knowledge.source",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "source", "name"), name="knowledge_imported_once"
                    ),
                    tenants.isolation.TenantForeignKey(
                        column="source_id",
                        name="knowledge_imported_source",
                        on_delete="CASCADE",
                        to="knowledge.Source",
                    ),
                ],
            },
        ),
        row_security("knowledge_importedfile"),
    ]
