"""Four keys that could point into another organization carry the organization now.

Nothing is read: each waits for its lock and is there. The rows that are there are compared in the next migration.
"""

from __future__ import annotations

from django.db import migrations, models

from tenants.isolation import AddTenantKeyNotValid, TenantForeignKey


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0017_vectors_in_order"), ("tenants", "0001_initial")]

    operations = [
        # As many rows as there are sources that are kept fresh.
        migrations.AddConstraint(
            "sourceschedule",
            models.UniqueConstraint(fields=("organization", "id"), name="knowledge_schedule_key"),
        ),
        AddTenantKeyNotValid(
            "sourceschedule",
            TenantForeignKey(
                column="last_run_id",
                name="knowledge_schedule_run",
                on_delete="SET NULL (last_run_id)",
                to="knowledge.ImportRun",
            ),
        ),
        AddTenantKeyNotValid(
            "sourcepage",
            TenantForeignKey(
                column="schedule_id",
                name="knowledge_page_schedule",
                on_delete="CASCADE",
                to="knowledge.SourceSchedule",
            ),
        ),
        AddTenantKeyNotValid(
            "bulkjob",
            TenantForeignKey(
                column="undoes_id",
                name="knowledge_job_undoes",
                on_delete="SET NULL (undoes_id)",
                to="knowledge.BulkJob",
            ),
        ),
        # Last: every search writes here, and waits while this waits for its lock.
        AddTenantKeyNotValid(
            "searchrecord",
            TenantForeignKey(
                column="agent_id",
                name="knowledge_record_agent",
                on_delete="SET NULL (agent_id)",
                to="tenants.PhoneAgent",
            ),
        ),
    ]
