"""Bringing content in: found, read, written in short transactions, recorded; what has gone is pruned."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from knowledge.errors import KnowledgeError
from knowledge.ingestion.batches import batched
from knowledge.ingestion.errors import DuplicateId
from knowledge.ingestion.gathering import FileDone, Gathered, gather
from knowledge.ingestion.opening import open_import
from knowledge.ingestion.persistence import persistently
from knowledge.ingestion.pruning import prune
from knowledge.ingestion.recording import close_run, status_of, tell_reason
from knowledge.ingestion.remembering import MOST_ROWS, Remembered
from knowledge.ingestion.request import Clock, ImportRequest
from knowledge.ingestion.rows import Failed, Row
from knowledge.ingestion.running import Import, Watch
from knowledge.ingestion.sandbox import Sandbox
from knowledge.ingestion.walking import Finding, Found, NotFound, Skipped, printable, walk
from knowledge.ingestion.writing import write_batch
from knowledge.models import ImportRun
from tenants.isolation import organization_context

PAUSED_S: Final = 0.5
Status = ImportRun.Status


def run_import(request: ImportRequest, *, clock: Clock, watch: Watch) -> Import:
    """Bring in everything that can be; return the import with its record.

    Raises: ImportRefused, FolderRefused, PruneRefused, PruneUncertain
    """
    running = persistently(partial(open_import, request, clock=clock))
    status: str = Status.FAILED
    try:
        status = _bring_in(running, watch)
        if request.prune and status == Status.DONE:
            running.progress.counts["pruned"] = prune(running)
    except KeyboardInterrupt:
        status = Status.CANCELLED
        raise
    except Exception as error:
        persistently(partial(tell, running, error))
        raise
    finally:
        persistently(partial(close, running, status))
    return running


def tell(running: Import, error: Exception) -> None:
    """Say in the record what an import ended with."""
    known = isinstance(error, KnowledgeError)
    reason = str(error) if known else f"It broke off: {type(error).__name__}."
    with organization_context(running.organization_id):
        tell_reason(running.run, reason)


def close(running: Import, status: str) -> None:
    """End the record of an import."""
    with organization_context(running.organization_id):
        running.run = close_run(running.run, running.request, status, at=running.clock())


def _bring_in(running: Import, watch: Watch) -> str:
    findings = list(walk(running.request.paths))
    running.progress.total_bytes = sum(each.size for each in findings if isinstance(each, Found))
    with Sandbox() as sandbox:
        for batch in batched(gathered(running, findings, sandbox)):
            status = persistently(partial(write_batch, running, batch))
            watch(running.progress)
            if obeyed(running, status) == Status.CANCELLED:
                return Status.CANCELLED
    return Status.DONE


def gathered(
    running: Import, findings: Iterable[Finding], sandbox: Sandbox
) -> Iterator[Gathered | FileDone]:
    """Yield the rows of every file found; what has not changed since the last time is not parsed."""
    for finding in findings:
        if isinstance(finding, Skipped):
            running.progress.skipped[finding.kind] += 1
        else:
            yield from _of_file(running, finding, sandbox)


def _of_file(
    running: Import, finding: Found | NotFound, sandbox: Sandbox
) -> Iterator[Gathered | FileDone]:
    memory = running.memory
    if memory is None or isinstance(finding, NotFound):
        yield from _noted(running, gather(finding, running.request.folder, sandbox))
        return
    name, digest = memory.name_of(finding), memory.digest_of(finding)
    kept = memory.unchanged(name, digest)
    if kept and running.taken.isdisjoint(kept):
        running.present.update(kept)
        running.taken.update(kept)
        yield FileDone(printable(finding.path), kept=kept, size=finding.size)
        return
    ids: list[str | None] = []
    for each in _noted(running, gather(finding, running.request.folder, sandbox)):
        if isinstance(each, FileDone):
            yield replace(each, remembered=_remembered(name, digest, ids))
        else:
            ids.append(each.row.external_id if isinstance(each.row, Row) else None)
            yield each


def _remembered(name: str, digest: str, ids: Sequence[str | None]) -> Remembered | None:
    whole = tuple(key for key in ids if key is not None)
    if digest and 0 < len(whole) == len(ids) <= MOST_ROWS:
        return Remembered(name, digest, whole)
    return None


def _noted(
    running: Import, gathered: Iterable[Gathered | FileDone]
) -> Iterator[Gathered | FileDone]:
    for each in gathered:
        yield noted(running, each) if isinstance(each, Gathered) else each


def noted(running: Import, gathered: Gathered) -> Gathered:
    """Note the id of what was gathered as present; refuse an id that this import took already."""
    row = gathered.row
    if row.external_id is None:
        running.is_certain = False
        return gathered
    stored = running.target.stored_id(row.external_id)
    running.present.add(stored)
    if isinstance(row, Row) and stored in running.taken:
        return Gathered(Failed(row.origin, DuplicateId(), row.external_id), gathered.size)
    if isinstance(row, Row):
        running.taken.add(stored)
    return gathered


def obeyed(running: Import, status: str, meanwhile: Callable[[], None] | None = None) -> str:
    """Wait while staff want the import paused; return the status they want it to have.

    `meanwhile` is called now and then while it waits.
    """
    while status == Status.PAUSED:
        time.sleep(PAUSED_S)
        if meanwhile is not None:
            persistently(meanwhile)
        status = persistently(partial(status_of, running.run))
    return status
