"""Searches that ended in a rare way, or came through a rare door, are found without reading the others."""

from __future__ import annotations

from django.db import migrations, models

# Building concurrently waits for others without holding them up, however long that takes.
PATIENT = ["SET lock_timeout = 0"]
USUAL = ["RESET lock_timeout"]
COMMON = {"status": "ok", "door": "voice"}


def build(column: str) -> tuple[str, ...]:
    """Return the steps that build the index; one that was broken off is built anew."""
    name = f"knowledge_record_{column}"
    return (
        *PATIENT,
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
        f"CREATE INDEX CONCURRENTLY {name} ON knowledge_searchrecord"
        f" (organization_id, {column}, at DESC) WHERE NOT ({column} = '{COMMON[column]}')",
        *USUAL,
    )


def added(column: str) -> migrations.RunSQL:
    """Return the step for what is rare in one column."""
    index = models.Index(
        fields=["organization", column, "-at"],
        condition=~models.Q(**{column: COMMON[column]}),
        name=f"knowledge_record_{column}",
    )
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS knowledge_record_{column}"
    return migrations.RunSQL(
        build(column),
        [*PATIENT, drop, *USUAL],
        state_operations=[migrations.AddIndex("searchrecord", index)],
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("knowledge", "0019_tenant_keys_compared")]

    operations = [added("status"), added("door")]
