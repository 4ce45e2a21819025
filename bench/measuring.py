"""Times engines against one another, question by question, so that a busy machine slows all alike."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.asking import Asked, recall
from bench.engines import Engine
from bench.scopes import Scope

WARM_UP = 2


@dataclass(frozen=True)
class Timing:
    """One engine in one cell.

    Units: milliseconds; recall is the lowest of any query, against brute force.
    """

    p50: float
    p95: float
    recall: float | None


@dataclass(frozen=True)
class Cell:
    """One selectivity, one kind of question, one or four wordings at once."""

    passages: int
    scope: str
    allowed: int
    on_topic: bool
    queries: int
    timings: dict[str, Timing]

    @property
    def name(self) -> str:
        """How it is printed."""
        topic = "on topic" if self.on_topic else "off topic"
        return f"{self.scope:>6} {topic:9} {self.queries}"


def timings(
    scope: Scope, asked: Sequence[Asked], engines: Sequence[Engine], queries: int
) -> dict[str, Timing]:
    """Ask every engine every question, taking turns."""
    times: dict[str, list[float]] = defaultdict(list)
    recalls: dict[str, list[float]] = defaultdict(list)
    for number, question in enumerate(asked):
        for engine in engines:
            began = time.perf_counter()
            found = engine.search(list(question.vectors[:queries]), scope)
            taken = (time.perf_counter() - began) * 1000
            # The first questions find cold pages and statements not yet known.
            if number >= WARM_UP:
                times[engine.name].append(taken)
            recalls[engine.name] += map(recall, found, question.best)
    return {name: _timing(taken, recalls[name]) for name, taken in times.items()}


def _timing(times: Sequence[float], recalls: Sequence[float]) -> Timing:
    p50, p95 = np.quantile(times, [0.5, 0.95])
    return Timing(
        round(float(p50), 3), round(float(p95), 3), round(min(recalls), 4) if recalls else None
    )
