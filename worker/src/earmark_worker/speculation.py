"""Searches that begin before the reply that asks for them is authorised.

Only reads may begin early: the table knows one kind of work, a search, and nothing else can be
put into it. A search is used once, by a call with the same turn, queries, pins and context.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from earmark_worker.events import (
    Announcer,
    SpeculationRefused,
    SpeculationStarted,
    SpeculationUsed,
    SpeculationWasted,
)
from earmark_worker.search_plan import SearchPlan
from earmark_worker.wire import SearchReply

MOST_IN_FLIGHT = 3
Clock = Callable[[], float]
Run = Callable[[SearchPlan], Awaitable[SearchReply]]


@dataclass
class _Speculation:
    plan: SearchPlan
    generation: str
    task: asyncio.Task[SearchReply]
    started: float
    settled: float | None = None


class Speculations:
    """The table of one call's early searches."""

    def __init__(self, run: Run, announcer: Announcer, *, clock: Clock = time.monotonic) -> None:
        self._run = run
        self._announcer = announcer
        self._clock = clock
        self._waiting: dict[tuple[object, ...], _Speculation] = {}
        self._running: set[asyncio.Task[SearchReply]] = set()

    @property
    def in_flight(self) -> int:
        """Early searches that have not come back, used or not."""
        return len(self._running)

    def start(self, plan: SearchPlan, *, generation: str, call: str) -> bool:
        """Begin a search unless one for the same plan waits or three are in flight."""
        if plan.key in self._waiting:
            return False
        if self.in_flight >= MOST_IN_FLIGHT:
            self._announcer.tell(SpeculationRefused(plan.turn, "three_in_flight"))
            return False
        self._begin(plan, generation)
        self._announcer.tell(SpeculationStarted(plan.turn, call))
        return True

    def claim(self, plan: SearchPlan, *, generation: str) -> asyncio.Task[SearchReply] | None:
        """Hand over the search of an equal plan, once, also when its own generation is gone."""
        found = self._waiting.pop(plan.key, None)
        if found is None:
            return None
        self._announcer.tell(self._used(found, generation))
        return found.task

    def end_turn(self, *, except_for: str | None = None) -> None:
        """Drop what no call has used, of every turn but the one named; running ones are cancelled."""
        for key, waiting in list(self._waiting.items()):
            if waiting.plan.turn != except_for:
                del self._waiting[key]
                waiting.task.cancel()
                self._announcer.tell(SpeculationWasted(waiting.plan.turn))

    def _begin(self, plan: SearchPlan, generation: str) -> None:
        task = asyncio.ensure_future(self._run(plan))
        entry = _Speculation(plan, generation, _as_task(task), self._clock())
        self._waiting[plan.key] = entry
        self._running.add(entry.task)
        entry.task.add_done_callback(lambda done: self._settle(entry, done))

    def _settle(self, entry: _Speculation, done: asyncio.Task[SearchReply]) -> None:
        entry.settled = self._clock()
        self._running.discard(done)

    def _used(self, entry: _Speculation, generation: str) -> SpeculationUsed:
        now = self._clock()
        ready = 0.0 if entry.settled is None else now - entry.settled
        head_start = now - entry.started
        return SpeculationUsed(
            turn=entry.plan.turn,
            head_start_ms=head_start * 1000,
            ready_before_ms=ready * 1000,
            won_ms=(head_start - ready) * 1000,
            regenerated=generation != entry.generation,
        )


def _as_task(future: asyncio.Future[SearchReply]) -> asyncio.Task[SearchReply]:
    if not isinstance(future, asyncio.Task):
        raise TypeError("a search must run as a task")
    return future
