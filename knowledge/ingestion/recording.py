"""The record of an import: its counts while it runs, and every file or row that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db.models import F, Q

from knowledge.ingestion.readers.formats import holds_many
from knowledge.ingestion.readers.nesting import INSIDE
from knowledge.ingestion.request import ImportRequest
from knowledge.ingestion.rows import Failed
from knowledge.models import ImportFailure, ImportRun, Source
from tenants.auditing import Change, note
from tenants.isolation import organization_context

LONGEST_PATH: Final = 1_000
LONGEST_REASON: Final = 2_000
COUNTED: Final = ("created", "updated", "unchanged", "failed", "pruned")


@dataclass
class Tally:
    """What happened since the last time it was written down."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failed] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    details: dict[str, Any] | None = None


def open_run(request: ImportRequest, source: Source | None, *, at: datetime) -> ImportRun:
    """Begin the record; runs of the same import that never ended are marked so."""
    abandoned = ImportRun.objects.filter(
        organization_id=request.organization_id,
        label=request.label,
        status__in=[ImportRun.Status.RUNNING, ImportRun.Status.PAUSED],
    )
    abandoned.update(status=ImportRun.Status.FAILED, finished_at=at)
    return ImportRun.objects.create(
        organization_id=request.organization_id, source=source, label=request.label, started_at=at,
        request=request.as_json() if request.is_repeatable else None,
    )  # fmt: skip


def write_down(run: ImportRun, tally: Tally, *, at: datetime) -> str:
    """Add the counts and failures to the record; return the status staff want it to have.

    Cost: at most three statements.
    """
    _resolve(run, tally.done, at=at)
    ImportFailure.objects.bulk_create(_failure(run, failed, at=at) for failed in tally.failures)
    told: dict[str, Any] = {
        name: F(name) + tally.counts[name] for name in COUNTED if tally.counts[name]
    }
    if told:
        told["total"] = F("total") + sum(tally.counts[name] for name in COUNTED[:4])
    if tally.details is not None:
        told["details"] = tally.details
    runs = ImportRun.objects.filter(pk=run.pk)
    if told:
        runs.update(**told)
    return str(runs.values_list("status", flat=True).get())


def status_of(run: ImportRun) -> str:
    """Return the status staff want the import to have."""
    with organization_context(run.organization_id):
        return str(ImportRun.objects.values_list("status", flat=True).get(pk=run.pk))


def tell_reason(run: ImportRun, reason: str) -> None:
    """Say in the record why an import ended as it did."""
    row = ImportRun.objects.select_for_update(of=("self",), no_key=True).get(pk=run.pk)
    row.details = {**(row.details or {}), "reason": reason[:LONGEST_REASON]}
    row.save(update_fields=["details"])


def close_run(run: ImportRun, request: ImportRequest, status: str, *, at: datetime) -> ImportRun:
    """End the record, with an entry in the audit trail."""
    ImportRun.objects.filter(pk=run.pk).update(status=status, finished_at=at)
    run.refresh_from_db()
    counts = {name: getattr(run, name) for name in COUNTED}
    after = {"label": run.label, "status": run.status, **counts}
    change = Change("import.ended", "import_run", str(run.pk), {}, after)
    note(run.organization_id, change, by=request.by, at=at)
    return run


def _resolve(run: ImportRun, paths: Sequence[str], *, at: datetime) -> None:
    # A file that was tried again either succeeded or has a newer failure of its own.
    if paths:
        named = Q(path__in=[_kept_path(path) for path in paths])
        for path in filter(holds_many, paths):
            named |= Q(path__startswith=f"{path}{INSIDE}")
        standing = ImportFailure.objects.filter(
            named, organization_id=run.organization_id, resolved_at=None
        )
        standing.exclude(run=run).update(resolved_at=at)


def _failure(run: ImportRun, failed: Failed, *, at: datetime) -> ImportFailure:
    return ImportFailure(
        organization_id=run.organization_id,
        run=run,
        path=_kept_path(failed.origin.path),
        line=failed.origin.line,
        code=failed.error.code,
        reason=str(failed.error)[:LONGEST_REASON],
        at=at,
    )


def _kept_path(path: str) -> str:
    return path if len(path) <= LONGEST_PATH else "…" + path[1 - LONGEST_PATH :]


def open_failures(organization_id: int) -> list[ImportFailure]:
    """Return the failures that stand, newest first."""
    found = ImportFailure.objects.filter(organization_id=organization_id, resolved_at=None)
    return list(found.select_related("run").order_by("-at", "path", "line"))
