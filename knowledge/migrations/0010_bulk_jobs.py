"""Work on many items at once, and an index over what is deleted."""

from __future__ import annotations

import django.db.models.deletion
import django.db.models.functions.datetime
import tenants.isolation
import uuid
from django.conf import settings
from django.db import migrations, models

from tenants.isolation import row_security


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0009_canaries"),
        ("tenants", "0005_second_factor"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="BulkEntry",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.BigIntegerField()),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("done", "Done"),
                            ("unchanged", "Unchanged"),
                            ("refused", "Refused"),
                        ],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("code", models.CharField(blank=True, max_length=64)),
                ("before", models.JSONField(default=dict)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="BulkJob",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("move", "Move"),
                            ("delete", "Delete"),
                            ("restore", "Restore"),
                            ("publish", "Publish"),
                            ("unpublish", "Unpublish"),
                            ("undo", "Undo"),
                            ("reread", "Reread"),
                        ],
                        max_length=16,
                    ),
                ),
                ("target", models.CharField(blank=True, max_length=1000)),
                ("label", models.CharField(max_length=400)),
                ("actor_label", models.CharField(max_length=200)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("cancelled", "Cancelled"),
                            ("done", "Done"),
                        ],
                        default="running",
                        max_length=16,
                    ),
                ),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("unchanged", models.PositiveIntegerField(default=0)),
                ("refused", models.PositiveIntegerField(default=0)),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-started_at", "id"],
            },
        ),
        migrations.AddIndex(
            model_name="item",
            index=models.Index(
                condition=models.Q(("deleted_at__isnull", False)),
                fields=["organization", "-deleted_at", "id"],
                name="knowledge_item_deleted",
            ),
        ),
        migrations.AddField(
            model_name="bulkentry",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, to="knowledge.item"
            ),
        ),
        migrations.AddField(
            model_name="bulkentry",
            name="organization",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, to="tenants.organization"
            ),
        ),
        migrations.AddField(
            model_name="bulkjob",
            name="organization",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, to="tenants.organization"
            ),
        ),
        migrations.AddField(
            model_name="bulkjob",
            name="started_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="bulkjob",
            name="undoes",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                to="knowledge.bulkjob",
            ),
        ),
        migrations.AddField(
            model_name="bulkentry",
            name="job",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="entries",
                to="knowledge.bulkjob",
            ),
        ),
        migrations.AddIndex(
            model_name="bulkjob",
            index=models.Index(fields=["organization", "-started_at"], name="knowledge_job_recent"),
        ),
        migrations.AddIndex(
            model_name="bulkjob",
            index=models.Index(
                condition=models.Q(("status", "running")),
                fields=["organization", "started_at"],
                name="knowledge_job_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="bulkjob",
            constraint=models.UniqueConstraint(
                fields=("organization", "id"), name="knowledge_job_key"
            ),
        ),
        migrations.AddIndex(
            model_name="bulkentry",
            index=models.Index(
                condition=models.Q(("outcome", "waiting")),
                fields=["organization", "job", "item"],
                name="knowledge_entry_waiting",
            ),
        ),
        migrations.AddIndex(
            model_name="bulkentry",
            index=models.Index(fields=["job", "outcome"], name="knowledge_entry_outcome"),
        ),
        migrations.AddConstraint(
            model_name="bulkentry",
            constraint=models.UniqueConstraint(
                fields=("organization", "job", "item"), name="knowledge_entry_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="bulkentry",
            constraint=tenants.isolation.TenantForeignKey(
                column="job_id",
                name="knowledge_entry_job",
                on_delete="CASCADE",
                to="knowledge.BulkJob",
            ),
        ),
        migrations.AddConstraint(
            model_name="bulkentry",
            constraint=tenants.isolation.TenantForeignKey(
                column="item_id",
                name="knowledge_entry_item",
                on_delete="CASCADE",
                to="knowledge.Item",
            ),
        ),
        row_security("knowledge_bulkjob", "knowledge_bulkentry"),
    ]
