"""The keys of the migration before, compared with the rows there are; reads and writes go on meanwhile."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    # Each lets its lock go at once; what was compared is not compared again when this is run again.
    atomic = False
    dependencies = [("knowledge", "0018_tenant_keys")]

    operations = [
        ValidateConstraint("sourceschedule", "knowledge_schedule_run"),
        ValidateConstraint("sourcepage", "knowledge_page_schedule"),
        ValidateConstraint("bulkjob", "knowledge_job_undoes"),
        ValidateConstraint("searchrecord", "knowledge_record_agent"),
    ]
