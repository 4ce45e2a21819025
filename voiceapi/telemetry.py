"""What is measured of a search: one span with its steps, and counts. Never what was said."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.trace import Span, Tracer

from knowledge.retrieval.types import Answer, CategoryName, Everything
from scopes.asking import Asked
from voiceapi import metrics
from voiceapi.contract import VERSION

STEPS: Final = ("scope", "embed", "candidates", "fuse", "render")
# Steps in the order in which they run; `embed` is over before a connection is taken.
_ORDER: Final = ("embed", "scope", "candidates", "fuse", "render")
_NS: Final = 1_000_000
_VERSION: Final = "earmark.contract_version"


@dataclass
class SearchSpan:
    """The span of one search; told once, when its answer is there."""

    span: Span
    tracer: Tracer
    began: float
    version: int

    def answered(self, asked: Asked) -> None:
        """Note what came out, and how long each step took."""
        _count(asked.answer, time.perf_counter() - self.began)
        if self.span.is_recording():
            self.span.set_attributes(_attributes(asked) | {_VERSION: self.version})
            self._steps(asked.answer)

    def _steps(self, answer: Answer) -> None:
        """Lay the steps end to end before now: what was measured is how long each took."""
        taken = [(step, int(answer.timings_ms.get(step, 0.0) * _NS)) for step in _ORDER]
        start = time.time_ns() - sum(duration for _, duration in taken)
        for step, duration in taken:
            child = self.tracer.start_span(step, start_time=start)
            start += duration
            child.end(end_time=start)


@contextmanager
def search_span(tracer: Tracer | None = None, *, version: int = VERSION) -> Iterator[SearchSpan]:
    """Open the span of a search; it is closed whatever happens."""
    used = tracer or trace.get_tracer("earmark.voice")
    # An exception's text may quote what was said: only its class is noted, by the log.
    with used.start_as_current_span(
        "voice.search", record_exception=False, set_status_on_exception=False
    ) as span:
        yield SearchSpan(span, used, time.perf_counter(), version)


def _count(answer: Answer, seconds: float) -> None:
    metrics.SEARCHES.labels(answer.status.value).inc()
    metrics.SEARCH_SECONDS.observe(seconds)
    for leg in answer.degraded:
        metrics.DEGRADED.labels(leg).inc()
    for step in STEPS:
        if step in answer.timings_ms:
            metrics.STEP_SECONDS.labels(step).observe(answer.timings_ms[step] / 1000)


def _attributes(asked: Asked) -> dict[str, Any]:
    answer = asked.answer
    return {
        "earmark.agent": "" if asked.agent_id is None else str(asked.agent_id),
        "earmark.search": str(asked.search_id),
        "earmark.status": answer.status.value,
        "earmark.mode.instructions": _mode(asked, "instruction"),
        "earmark.mode.knowledge": _mode(asked, "knowledge"),
        "earmark.degraded": list(answer.degraded),
        "earmark.profile_version": answer.profile_version or 0,
        "earmark.results": [result.id for result in answer.results],
        **_by_name("earmark.candidates", answer.counts),
        **_by_name("earmark.milliseconds", answer.timings_ms),
        **_ranking(answer),
    }


def _by_name(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{name}": value for name, value in values.items()}


def _ranking(answer: Answer) -> dict[str, list[Any]]:
    """Say why each result is there, in lists that run alongside `earmark.results`."""
    places = {row.asset_id: row for row in answer.ranked}
    rows = [places.get(result.asset_id) for result in answer.results]
    return {
        "earmark.results.legs": ["+".join(row.legs) if row else "" for row in rows],
        "earmark.results.ranks": [
            " ".join(f"{leg}={rank}" for leg, rank in row.ranks) if row else "" for row in rows
        ],
        "earmark.results.score": [row.score if row else 0.0 for row in rows],
        "earmark.results.relevance": [row.relevance if row else 0.0 for row in rows],
    }


def _mode(asked: Asked, category: CategoryName) -> str:
    if asked.allowlist is None:
        return "unknown"
    return "all" if isinstance(asked.allowlist.scope(category), Everything) else "selected"
