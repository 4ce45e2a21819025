"""Whatever a provider answers: what is paid is kept, nothing wrong is stored, it goes on by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from knowledge.indexing.draining import Drain
from knowledge.models import EmbeddedText, IndexState, UsageEntry, Vector
from tests.openai_server import instant_vectors

COUNT = 100
BEGAN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
# What it answers, and the code under which staff find it.
WRONG = {
    "broken": "embedding_unavailable",
    "unavailable": "embedding_unavailable",
    "error_body": "embedding_unavailable",
    "empty": "embedding_unavailable",
    "gapped": "embedding_unavailable",
    "repeated": "embedding_unavailable",
    "not_a_number": "embedding_unavailable",
    "zeros": "embedding_unavailable",
    "truncated": "embedding_unavailable",
    "hung_up": "embedding_unavailable",
    "html": "embedding_unavailable",
    "short": "embedding_rejected",
    "forbidden": "embedding_rejected",
}

QUICK = {"broken", "gapped", "short"}


def step(bench, minutes: float = 0.0) -> int:
    """One step of a drain that remembers nothing, at that time."""
    at = BEGAN + timedelta(minutes=minutes)
    return Drain(bench.embedder(), lambda: at).step()


def states(bench) -> list[tuple[str, str, str]]:
    with bench.acme.context():
        waiting = IndexState.objects.exclude(status="live").exclude(status="pending")
        return sorted(set(waiting.values_list("status", "last_error_code", "last_error")))


def everything_is_right(bench) -> None:
    bench.index_equals_truth()
    with bench.acme.context():
        vectors = [np.array(v.embedding) for v in Vector.objects.all()]
    expected = np.array(instant_vectors(list(bench.server.inputs), "tests"))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    for vector in vectors:
        assert abs(1 - float((expected @ vector).max())) < 1e-2


@pytest.fixture
def begun(bench):
    """Half of a batch is paid for when the provider begins to misbehave."""
    bench.save(COUNT)
    with bench.acme.context():
        IndexState.objects.update(next_attempt_at=BEGAN)
    return bench


@pytest.mark.parametrize(
    "behaviour",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in WRONG],
)
def test_a_wrong_answer_costs_no_progress_and_is_told(begun, behaviour):
    begun.server.behave("normal", times=1)
    begun.server.behave(behaviour, times=200)
    step(begun)
    assert begun.indexed() == 0
    with begun.acme.context():
        kept = EmbeddedText.objects.count()
    assert kept > 0
    told = states(begun)
    assert told
    assert {(status, code) for status, code, _ in told} <= {
        ("retrying", WRONG[behaviour]), ("retrying", "embedding_unavailable"),
    }  # fmt: skip
    assert all(reason for *_, reason in told)
    begun.server.behave()
    minutes = 20.0
    while step(begun, minutes):
        minutes += 20
    everything_is_right(begun)
    with begun.acme.context():
        usage = UsageEntry.objects.get()
    assert usage.failed_calls >= 1
    assert usage.texts == 2 * COUNT


def test_an_answer_in_reverse_is_put_in_order(begun):
    begun.server.behave("reversed")
    while step(begun):
        pass
    everything_is_right(begun)


def test_a_minute_that_the_provider_asks_for_is_kept_and_then_it_goes_on(begun):
    begun.server.behave("rate_limited", retry_after=60)
    begun.server.behave("normal", times=1)
    step(begun)
    asked = begun.server.calls
    assert asked == 2
    for seconds in (1, 30, 59):
        assert step(begun, seconds / 60) == 0
    assert begun.server.calls == asked
    assert [(status, code) for status, code, _ in states(begun)] == [
        ("retrying", "embedding_unavailable")
    ]
    begun.server.behave()
    while step(begun, 61 / 60):
        pass
    assert begun.indexed() == COUNT
    everything_is_right(begun)
