"""The loop that works the queue of every organization: with one process, or with several at once.

It ends when it is told to and for no other reason: a database that restarts is waited for.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import Error, connection

from knowledge.embedding.protocol import Embedder
from knowledge.errors import EmbeddingFailed
from knowledge.indexing.backoff import pause_s
from knowledge.indexing.converge import BUDGET_S, Asset, Outcome, Workshop, converge_batch
from knowledge.indexing.leases import Clock
from knowledge.indexing.nudging import CHANNEL
from knowledge.indexing.spending import is_left_alone, leave_alone

BATCH: Final = 64
POLL_S: Final = 0.5
LONGEST_PROVIDER_PAUSE_S: Final = 30.0
LONGEST_TROUBLE_PAUSE_S: Final = 5.0
ASKING_TO_WAIT: Final = frozenset({429, 503})
_logger = logging.getLogger(__name__)


@dataclass
class Chore:
    """What is done now and then beside the queue, in a thread of its own: neither waits for the other."""

    name: str
    every_s: float
    run: Callable[[datetime], object]
    due: float = 0.0
    thread: threading.Thread | None = None


@dataclass
class Drain:
    """One drain: what it works with and what it remembers between two batches."""

    embedder: Embedder
    clock: Clock
    chores: Sequence[Chore] = ()
    stop: threading.Event = field(default_factory=threading.Event)
    # What to embed with from now on; another space may have been switched to.
    follow: Callable[[], Embedder] | None = None
    _listening: Any = None
    _failures: int = 0
    _provider_free_at: float = 0.0

    def run(self) -> None:
        """Work until `stop` is set; what is under way is finished or given back."""
        troubles = 0
        while not self.stop.is_set():
            try:
                # On every turn: an import of hours, or batches that fail, keep no upload and no job waiting.
                self._begin_chores()
                if not self.step():
                    self._wait_for_a_nudge()
                troubles = 0
            except Exception as error:
                troubles += 1
                self._recover(error, troubles)

    def _recover(self, error: Exception, troubles: int) -> None:
        if isinstance(error, Error):
            _logger.warning("database", extra={"error": type(error).__name__})
        else:
            _logger.error("batch failed", exc_info=error)
        connection.close()
        self.stop.wait(min(LONGEST_TROUBLE_PAUSE_S, pause_s(troubles) / 4))

    def step(self) -> int:
        """Converge one batch of what is due now; return how many assets were worked on."""
        if self.follow is not None:
            self.embedder = self.follow()
        if time.monotonic() < self._provider_free_at or self._is_told_to_wait():
            return 0
        touched = 0
        due = due_assets(at=self.clock(), most=BATCH)
        # The shortest first: one change does not wait for the batch of an import.
        for organization_id, assets in sorted(due.items(), key=lambda pair: len(pair[1])):
            if self.stop.is_set() or time.monotonic() < self._provider_free_at:
                break
            touched += self._converge(organization_id, assets)
        return touched

    def _converge(self, organization_id: int, assets: Sequence[Asset]) -> int:
        began = time.monotonic()
        workshop = Workshop(
            self.embedder,
            self.clock,
            lambda: not self.stop.is_set() and time.monotonic() < began + BUDGET_S,
        )
        outcome = converge_batch(organization_id, assets, workshop)
        self._mind_provider(outcome)
        if outcome.touched:
            _log(organization_id, outcome, time.monotonic() - began)
        return outcome.touched

    def _mind_provider(self, outcome: Outcome) -> None:
        """Leave a provider alone that cannot answer: one batch waits instead of all of them failing."""
        if outcome.stopped_by is None:
            self._failures = 0 if outcome.bought else self._failures
            return
        self._failures += 1
        pause = min(LONGEST_PROVIDER_PAUSE_S, pause_s(self._failures))
        self._provider_free_at = time.monotonic() + max(pause, outcome.stopped_by.retry_after or 0)
        self._tell_others(outcome.stopped_by)

    def _is_told_to_wait(self) -> bool:
        """Whether another process was told to leave the provider alone."""
        return is_left_alone(self.embedder.space, at=self.clock())

    def _tell_others(self, stopped_by: EmbeddingFailed) -> None:
        # What a provider asks of one process it means for all of them.
        seconds = stopped_by.retry_after
        if seconds and stopped_by.data.get("status") in ASKING_TO_WAIT:
            until = self.clock() + timedelta(seconds=seconds)
            leave_alone(self.embedder.space, until=until)

    def _begin_chores(self) -> None:
        for chore in self.chores:
            if not self.stop.is_set():
                _begin_when_due(chore, self.clock)

    def _wait_for_a_nudge(self) -> None:
        connection.ensure_connection()
        if self._listening is not connection.connection:
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {CHANNEL}")
            self._listening = connection.connection
        with connection.wrap_database_errors:
            for _ in connection.connection.notifies(timeout=POLL_S, stop_after=1):
                return


def due_assets(*, at: datetime, most: int) -> dict[int, list[Asset]]:
    """Return what is due, by organization: they take turns, and so do the oldest and the newest.

    Cost: one statement; two index probes for each organization.
    """
    due: dict[int, list[Asset]] = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM earmark_due_index_states(%s, %s)", [at, most])
        rows: list[tuple[int, str, UUID]] = cursor.fetchall()
    for organization_id, category, asset_id in rows:
        due.setdefault(organization_id, []).append((category, asset_id))
    return due


def _begin_when_due(chore: Chore, clock: Clock) -> None:
    busy = chore.thread is not None and chore.thread.is_alive()
    if busy or time.monotonic() < chore.due:
        return
    chore.due = time.monotonic() + chore.every_s
    chore.thread = threading.Thread(target=_do, args=(chore, clock()), daemon=True)
    chore.thread.start()


def _do(chore: Chore, at: datetime) -> None:
    try:
        chore.run(at)
    except Exception:
        # The queue goes on whatever a chore runs into; a lost database shows at the next batch.
        _logger.exception("chore failed", extra={"chore": chore.name})
    finally:
        connection.close()


def _log(organization_id: int, outcome: Outcome, seconds: float) -> None:
    _logger.info(
        "batch",
        extra={
            "organization": organization_id,
            "applied": len(outcome.applied),
            "failed": dict(Counter(failure.code for failure in outcome.failed.values())),
            "released": len(outcome.released),
            "texts": outcome.texts,
            "bought": outcome.bought,
            "seconds": round(seconds, 3),
        },
    )
