from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from knowledge.indexing import nudging
from tests.faults.modes import Broker, used_broker
from tests.processes import beat, eventually, running, worker


@pytest.fixture
def broker(settings) -> Iterator[Broker]:
    with used_broker(settings) as broker:
        yield broker


def test_a_worker_indexes_what_a_save_nudges_for(bench, broker):
    with running(worker(bench.server.base_url, broker.url)):
        bench.save(70)
        bench.converged()
    assert bench.paid_twice() == 0


def test_a_save_costs_half_a_second_at_most_when_the_broker_is_gone(bench, broker):
    broker.process.close()
    began = time.monotonic()
    bench.save(1)
    first = time.monotonic() - began
    bench.save(10, first=1)
    assert first < 1.5
    assert time.monotonic() - began < first + 1.5
    assert nudging.breaker.is_open


def test_a_broker_that_does_not_answer_holds_a_save_up_once(bench, broker):
    broker.process.send(signal.SIGSTOP)
    began = time.monotonic()
    nudging.nudge()
    first = time.monotonic() - began
    nudging.nudge()
    assert first <= 0.5
    assert time.monotonic() - began < first + 0.05


@pytest.mark.slow
def test_beat_sweeps_up_what_nobody_was_nudged_for(bench, broker, settings):
    settings.REDIS_URL = None
    bench.save(5)
    processes = (worker(bench.server.base_url, broker.url), beat(bench.server.base_url, broker.url))
    with running(*processes):
        bench.converged()


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(bench, broker):
    process = worker(bench.server.base_url, broker.url)
    with running(process):
        bench.server.behave(delay_s=0.2)
        bench.save(150)
        eventually(lambda: bench.under_way() and bench.indexed() >= 64)
        process.kill()
        bench.server.behave()
        bench.ten_seconds_pass()
        with running(worker(bench.server.base_url, broker.url)):
            broker.sweep()
            bench.converged()


@pytest.mark.slow
def test_a_redis_that_forgot_everything_loses_nothing(bench, broker):
    with running(worker(bench.server.base_url, broker.url)):
        bench.server.behave(delay_s=0.2)
        bench.save(150)
        eventually(lambda: bench.indexed() >= 64)
        broker.restart()
        bench.server.behave()
        broker.sweep()
        bench.converged()
