"""Writing a batch of rows: one transaction and few statements; a bad row fails alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.db import DataError, IntegrityError, transaction

from knowledge.errors import KnowledgeError
from knowledge.indexing.bulk import Content, Truth, Wanted, write_many
from knowledge.indexing.writing import (
    ItemContent,
    Written,
    change,
    write_instruction,
    write_item,
)
from knowledge.ingestion.batches import Batch
from knowledge.ingestion.errors import NotStored
from knowledge.ingestion.recording import Tally, write_down
from knowledge.ingestion.remembering import remember
from knowledge.ingestion.rows import Failed, Row
from knowledge.ingestion.running import Import
from knowledge.models import ImportRun
from tenants.isolation import organization_context


def write_batch(running: Import, batch: Batch) -> str:
    """Write the batch and what became of it; return the status staff want the import to have.

    Safe to repeat: what is already as it should be stays untouched.
    """
    tally = Tally(failures=list(batch.failed), done=batch.done)
    with organization_context(running.organization_id):
        existing = running.target.prepare(batch.rows)
        withheld = _deleted_by_staff(existing)
        tally.counts["unchanged"] += sum(row.external_id in withheld for row in batch.rows)
        rows = [row for row in batch.rows if row.external_id not in withheld]
        _write(running, _wanted(running, rows, existing, tally), tally)
        tally.counts["failed"] += len(tally.failures)
        tally.counts["unchanged"] += batch.kept
        running.refused.update(f.external_id for f in tally.failures if f.external_id)
        _remember(running, batch)
        tally.details = replace(
            running.progress,
            withheld=running.progress.withheld + len(withheld),
            bytes=running.progress.bytes + batch.size,
        ).as_json()
        status = write_down(running.run, tally, at=running.clock())
    running.progress.counts.update(tally.counts)
    running.progress.withheld += len(withheld)
    running.progress.bytes += batch.size
    return status


def _remember(running: Import, batch: Batch) -> None:
    if running.memory is not None:
        whole = [file for file in batch.remembered if running.refused.isdisjoint(file.ids)]
        remember(running.memory, whole, at=running.clock())


def _wanted(
    running: Import, rows: Iterable[Row], existing: Mapping[str, Truth], tally: Tally
) -> list[tuple[Row, Wanted]]:
    wanted = []
    for row in rows:
        there = existing.get(row.external_id)
        try:
            wanted.append((row, Wanted(running.target.content(row, there), there)))
        except KnowledgeError as error:
            tally.failures.append(Failed(row.origin, error, row.external_id))
    return wanted


def _write(running: Import, wanted: Sequence[tuple[Row, Wanted]], tally: Tally) -> None:
    try:
        with transaction.atomic():
            written = write_many([each for _, each in wanted], at=running.clock())
    except (KnowledgeError, DataError, IntegrityError):
        # One of them is bad, or somebody else makes it too: it shows which when each is alone.
        _write_singly(running, wanted, tally)
    else:
        tally.counts.update(each.outcome.value for each in written)


def _write_singly(running: Import, wanted: Iterable[tuple[Row, Wanted]], tally: Tally) -> None:
    again = running.target.prepare([row for row, _ in wanted])
    for row, _ in wanted:
        _write_row(running, row, again.get(row.external_id), tally)


def _write_row(running: Import, row: Row, existing: Truth | None, tally: Tally) -> None:
    try:
        with transaction.atomic():
            content = running.target.content(row, existing)
            written = _made(content, existing, at=running.clock())
    except KnowledgeError as error:
        tally.failures.append(Failed(row.origin, error, row.external_id))
    except (DataError, IntegrityError):
        tally.failures.append(Failed(row.origin, NotStored(), row.external_id))
    else:
        tally.counts[written.outcome.value] += 1


def _made(content: Content, existing: Truth | None, *, at: datetime) -> Written:
    if existing is not None:
        return change(existing, at=at, **content.columns())
    if isinstance(content, ItemContent):
        return write_item(content, at=at)
    return write_instruction(content, at=at)


def _deleted_by_staff(existing: Mapping[str, Truth]) -> set[str]:
    """A row that an import pruned comes back with its file; one that staff deleted does not."""
    deleted = {name: row.deleted_at for name, row in existing.items() if row.deleted_at}
    pruned = instants_of_imports(set(deleted.values())) if deleted else set()
    return {name for name, instant in deleted.items() if instant not in pruned}


def instants_of_imports(instants: Iterable[datetime]) -> set[datetime]:
    """Return which of these instants are the beginning of an import."""
    # Pruning stamps what it deletes with the instant its import began, which names the import.
    found = ImportRun.objects.filter(started_at__in=list(instants))
    return set(found.values_list("started_at", flat=True))
