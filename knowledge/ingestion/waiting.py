"""Waiting until what was brought in is searchable, and indexing it here when nobody else does."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from knowledge.calibration.refitting import refit_all_due
from knowledge.embedding.selection import current_embedder
from knowledge.indexing.draining import Drain
from knowledge.indexing.status import wait_until_indexed, waiting
from knowledge.ingestion.request import Clock
from tenants.rounds import RoundIncomplete

# A drain that works shows within this time; one that only waits for a provider looks the same.
PATIENCE_S: Final = 5.0
PAUSE_S: Final = 0.2


def wait_or_index(
    organization_id: int, *, clock: Clock, say: Callable[[str], None], watch: Callable[[int], None]
) -> None:
    """Return when nothing of the organization waits for the index any more.

    `watch` is told how many still wait. Two that index at once do no harm: each asset is leased.
    """
    if _somebody_indexes(organization_id, watch):
        return
    say("No index process is working, so this command indexes by itself.")
    embedder = current_embedder()
    drain = Drain(embedder, clock)
    while left := waiting(organization_id):
        watch(left)
        if not drain.step():
            time.sleep(PAUSE_S)
    # What is in is found without it; another process tries again later.
    with suppress(RoundIncomplete):
        refit_all_due(embedder, at=clock())


def _somebody_indexes(organization_id: int, watch: Callable[[int], None]) -> bool:
    left, since = waiting(organization_id), time.monotonic()
    while time.monotonic() - since < PATIENCE_S:
        if wait_until_indexed(organization_id, PAUSE_S):
            return True
        now = waiting(organization_id)
        watch(now)
        if now < left:
            left, since = now, time.monotonic()
    return False
