"""The drain's work as Celery tasks: thin, for a broker carries nudges and holds nothing of value."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache
from math import ceil
from typing import Final

from celery import shared_task

from knowledge.calibration.refitting import refit_all_due
from knowledge.embedding.selection import current_embedder
from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.draining import BATCH, Drain, due_assets
from knowledge.indexing.filling import Filler
from knowledge.indexing.nudging import TASK, nudge
from knowledge.indexing.reconciling import reconcile_all
from knowledge.ingestion.uploads import import_waiting
from knowledge.passages import CHUNKER_VERSION
from knowledge.shelving.purging import purge_deleted
from knowledge.shelving.working import work_waiting
from knowledge.sources.scheduling import sync_due
from knowledge.spaces.tending import tend_spaces

BUDGET_S: Final = 20.0
NUDGE_EXPIRES_S: Final = 15
MOST_NUDGES: Final = 16
# Below the visibility timeout: what takes longer would be started again beside itself.
LONGEST_FIT_S: Final = 280
LONGEST_LOOK_S: Final = 7200
# Then uploads make room for jobs, and jobs for uploads: they share a queue.
STAFF_BUDGET_S: Final = 30.0


@shared_task(name=TASK)
def converge_due() -> int:
    """Converge batches of what is due; what is left after a while goes to whoever is free."""
    drain = _drain()
    ends = time.monotonic() + BUDGET_S
    touched = drain.step()
    total = touched
    while touched and time.monotonic() < ends:
        touched = drain.step()
        total += touched
    if touched:
        nudge()
    return total


@shared_task(name="knowledge.sweep")
def sweep() -> int:
    """Nudge for what is due and was not told, or whose worker has died."""
    due = sum(len(assets) for assets in due_assets(at=_now(), most=BATCH * MOST_NUDGES).values())
    for _ in range(ceil(due / BATCH)):
        converge_due.apply_async(expires=NUDGE_EXPIRES_S)
    return due


@shared_task(name="knowledge.fill_spaces")
def fill_spaces() -> int:
    """Bring what spaces lack, and go on with dropping; what is left goes to the next time."""
    ends = time.monotonic() + BUDGET_S
    return tend_spaces(_filler(), lambda: time.monotonic() < ends)


@shared_task(name="knowledge.reconcile", time_limit=LONGEST_FIT_S)
def reconcile() -> int:
    """Compare truth rows and index of every organization."""
    space = ensure_space(current_embedder().space, chunker_version=CHUNKER_VERSION)
    return sum(found.total for found in reconcile_all(space=space, at=_now()).values())


@shared_task(name="knowledge.refit", time_limit=LONGEST_FIT_S)
def refit() -> list[str]:
    """Measure the corpora that have changed and come to rest."""
    return refit_all_due(current_embedder(), at=_now())


# Acknowledged at once: the schedule's own lease says who looks, and a look may take long.
@shared_task(name="knowledge.sync_sources", acks_late=False, time_limit=LONGEST_LOOK_S)
def sync_sources() -> list[str]:
    """Look at the sources that are due."""
    return sync_due(clock=_now)


@shared_task(name="knowledge.import_uploads", acks_late=False, time_limit=LONGEST_LOOK_S)
def import_uploads() -> int:
    """Bring in files that people handed in."""
    return import_waiting(clock=_now, seconds=STAFF_BUDGET_S)


# Acknowledged at once, like uploads: a job's own lease says who works on it.
@shared_task(name="knowledge.work_bulk", acks_late=False, time_limit=LONGEST_LOOK_S)
def work_bulk() -> int:
    """Work on what people do to many items at once."""
    return work_waiting(clock=_now, seconds=STAFF_BUDGET_S)


@shared_task(name="knowledge.purge")
def purge() -> int:
    """Remove for good what was deleted long enough ago."""
    return sum(purge_deleted(_now()).values())


@lru_cache(maxsize=1)
def _drain() -> Drain:
    # One for each process: it remembers that the provider wants to be left alone.
    return Drain(current_embedder(), _now, follow=current_embedder)


@lru_cache(maxsize=1)
def _filler() -> Filler:
    return Filler(_now)


def _now() -> datetime:
    return datetime.now(tz=UTC)  # noqa: TID251 - this is a door; rules take `at`
