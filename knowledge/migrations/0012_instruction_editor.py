"""Instructions are drafted beside what is served, and directories are deleted so that picks keep restricting."""

from __future__ import annotations

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

from tenants.isolation import TenantForeignKey, row_security

# What was served stays as it was served; it goes with its instruction only.
UNCHANGED = """
CREATE TRIGGER unchanged BEFORE UPDATE ON knowledge_instructionversion
  FOR EACH ROW EXECUTE FUNCTION earmark_refuse_change()
"""


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0011_files_and_failed_calls"),
        ("tenants", "0006_invitations"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="InstructionDraft",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("language", models.CharField(blank=True, max_length=16)),
                (
                    "visibility",
                    models.CharField(
                        choices=[("public", "Public"), ("internal", "Internal")],
                        default="public",
                        max_length=16,
                    ),
                ),
                ("channel_restricted", models.BooleanField(default=False)),
                (
                    "channels",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=32),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("segment_restricted", models.BooleanField(default=False)),
                (
                    "segments",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None
                    ),
                ),
                ("jurisdiction_restricted", models.BooleanField(default=False)),
                (
                    "jurisdictions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=2),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("valid_from", models.DateTimeField(blank=True, null=True)),
                ("valid_until", models.DateTimeField(blank=True, null=True)),
                ("title", models.CharField(max_length=400)),
                ("body", models.TextField()),
                ("base_digest", models.CharField(max_length=64)),
                ("changed_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="InstructionVersion",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("language", models.CharField(blank=True, max_length=16)),
                (
                    "visibility",
                    models.CharField(
                        choices=[("public", "Public"), ("internal", "Internal")],
                        default="public",
                        max_length=16,
                    ),
                ),
                ("channel_restricted", models.BooleanField(default=False)),
                (
                    "channels",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=32),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("segment_restricted", models.BooleanField(default=False)),
                (
                    "segments",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None
                    ),
                ),
                ("jurisdiction_restricted", models.BooleanField(default=False)),
                (
                    "jurisdictions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=2),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("valid_from", models.DateTimeField(blank=True, null=True)),
                ("valid_until", models.DateTimeField(blank=True, null=True)),
                ("number", models.PositiveIntegerField()),
                ("title", models.CharField(max_length=400)),
                ("body", models.TextField()),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-number"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="instructiondirectory",
            name="knowledge_directory_name",
        ),
        migrations.AddField(
            model_name="instructiondirectory",
            name="deleted_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name="instructiondirectory",
            constraint=models.UniqueConstraint(
                condition=models.Q(("deleted_at", None)),
                fields=("organization", "parent", "name"),
                name="knowledge_directory_name",
                nulls_distinct=False,
            ),
        ),
        migrations.AddField(
            model_name="instructiondraft",
            name="changed_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="instructiondraft",
            name="instruction",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="draft",
                to="knowledge.instruction",
            ),
        ),
        migrations.AddField(
            model_name="instructiondraft",
            name="organization",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, to="tenants.organization"
            ),
        ),
        migrations.AddField(
            model_name="instructionversion",
            name="created_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="instructionversion",
            name="instruction",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="versions",
                to="knowledge.instruction",
            ),
        ),
        migrations.AddField(
            model_name="instructionversion",
            name="organization",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, to="tenants.organization"
            ),
        ),
        migrations.AddConstraint(
            model_name="instructiondraft",
            constraint=TenantForeignKey(
                column="instruction_id",
                name="knowledge_draft_instruction",
                on_delete="CASCADE",
                to="knowledge.Instruction",
            ),
        ),
        migrations.AddConstraint(
            model_name="instructiondraft",
            constraint=models.CheckConstraint(
                condition=models.Q(("channel_restricted", True), ("channels", []), _connector="OR"),
                name="knowledge_draft_channel_list_restricts",
            ),
        ),
        migrations.AddConstraint(
            model_name="instructiondraft",
            constraint=models.CheckConstraint(
                condition=models.Q(("segment_restricted", True), ("segments", []), _connector="OR"),
                name="knowledge_draft_segment_list_restricts",
            ),
        ),
        migrations.AddConstraint(
            model_name="instructiondraft",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("jurisdiction_restricted", True), ("jurisdictions", []), _connector="OR"
                ),
                name="knowledge_draft_jurisdiction_list_restricts",
            ),
        ),
        migrations.AddConstraint(
            model_name="instructionversion",
            constraint=TenantForeignKey(
                column="instruction_id",
                name="knowledge_version_instruction",
                on_delete="CASCADE",
                to="knowledge.Instruction",
            ),
        ),
        migrations.AddConstraint(
            model_name="instructionversion",
            constraint=models.UniqueConstraint(
                fields=("organization", "instruction", "number"), name="knowledge_version_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="instructionversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("channel_restricted", True), ("channels", []), _connector="OR"),
                name="knowledge_version_channel_list_restricts",
            ),
        ),
        migrations.AddConstraint(
            model_name="instructionversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("segment_restricted", True), ("segments", []), _connector="OR"),
                name="knowledge_version_segment_list_restricts",
            ),
        ),
        migrations.AddConstraint(
            model_name="instructionversion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("jurisdiction_restricted", True), ("jurisdictions", []), _connector="OR"
                ),
                name="knowledge_version_jurisdiction_list_restricts",
            ),
        ),
        row_security("knowledge_instructiondraft", "knowledge_instructionversion"),
        migrations.RunSQL(UNCHANGED, "DROP TRIGGER unchanged ON knowledge_instructionversion"),
    ]
