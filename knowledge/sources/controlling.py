"""Trying an import again, however it came in: files, a command, or a look at a source."""

from __future__ import annotations

from datetime import datetime

from knowledge.ingestion.uploads import retry
from knowledge.models import ImportRun, ImportUpload, SourceSchedule
from knowledge.sources.scheduling import ask_now
from tenants.auditing import Actor


def try_again(run: ImportRun, *, by: Actor, at: datetime) -> bool:
    """Try again what failed of an import; False where that cannot be done from here."""
    schedule = schedule_of(run)
    if schedule is None:
        return bool(retry(run, by=by, at=at))
    ask_now(schedule, by=by, at=at)
    return True


def can_be_tried_again(run: ImportRun) -> bool:
    """Whether something of it failed and a process of the product can get at it.

    Cost: at most two statements.
    """
    if run.again_at or run.status in (ImportRun.Status.RUNNING, ImportRun.Status.PAUSED):
        return False
    if not run.failed and run.status == ImportRun.Status.DONE:
        return False
    if run.request or schedule_of(run) is not None:
        return True
    kept = (ImportUpload.Outcome.FAILED, ImportUpload.Outcome.PARTLY)
    return ImportUpload.objects.filter(run=run, outcome__in=kept).exists()


def schedule_of(run: ImportRun) -> SourceSchedule | None:
    """Return the schedule whose look this was; None for files and commands."""
    if run.request or run.source_id is None or ImportUpload.objects.filter(run=run).exists():
        return None
    rows = SourceSchedule.objects.filter(
        organization_id=run.organization_id, source_id=run.source_id
    )
    return rows.first()
