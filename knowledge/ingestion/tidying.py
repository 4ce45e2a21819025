"""Records of imports and the files that could not be brought in go after a while, some at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from knowledge.models import ImportRun, ImportUpload, Instruction, Item, SourceSchedule
from tenants.isolation import organization_context
from tenants.models import Organization

RUNS: Final = 1_000
FILES: Final = 100
# Staff look at what failed longer than some organizations keep calls.
LEAST_KEPT: Final = timedelta(days=30)
_ENDED: Final = (ImportRun.Status.DONE, ImportRun.Status.FAILED, ImportRun.Status.CANCELLED)
_STANDING: Final = (ImportUpload.Outcome.FAILED, ImportUpload.Outcome.PARTLY)


def forget_imports(organization: Organization, *, at: datetime) -> int:
    """Delete old records of imports with their failures, and empty old files; return how many.

    What the last look at a source came to stays, however old.
    """
    before = at - max(LEAST_KEPT, timedelta(days=organization.retention_days))
    with organization_context(organization.pk):
        emptied = _empty_files(organization.pk, before)
        runs = list(_old_runs(organization.pk, before).values_list("pk", flat=True)[:RUNS])
        ImportRun.objects.filter(organization=organization, pk__in=runs).delete()
    return emptied + len(runs)


def _empty_files(organization_id: int, before: datetime) -> int:
    files = ImportUpload.objects.filter(
        organization_id=organization_id, outcome__in=_STANDING, run__started_at__lt=before
    )
    found = files.exclude(content=b"").order_by("pk").values_list("pk", flat=True)[:FILES]
    return ImportUpload.objects.filter(pk__in=list(found)).update(content=b"")


def _old_runs(organization_id: int, before: datetime) -> QuerySet[ImportRun]:
    runs = ImportRun.objects.filter(
        organization_id=organization_id, started_at__lt=before, status__in=_ENDED, again_at=None
    )
    shown = SourceSchedule.objects.filter(organization_id=organization_id, last_run=OuterRef("pk"))
    # What an import removed as gone names it by its instant, and comes back only while that is known.
    named = {"organization_id": organization_id, "deleted_at": OuterRef("started_at")}
    held = [
        Exists(rows) for rows in (Item.objects.filter(**named), Instruction.objects.filter(**named))
    ]
    return runs.exclude(Exists(shown)).exclude(held[0]).exclude(held[1]).order_by("started_at")
