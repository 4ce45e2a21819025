from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest
from celery import Celery

from config.celery import app as product
from knowledge.indexing import nudging
from tests.processes import Process, beat, eventually, free_port, redis, running, worker

SWEEP = "knowledge.sweep"


class Broker:
    """A Redis that this process nudges through, as the web server does."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process = redis(self.port)
        self.app = Celery("tests", broker=self.url)
        self.app.conf.update(
            task_default_queue="earmark",
            broker_transport_options={"socket_timeout": 5, "socket_connect_timeout": 1},
        )

    def restart(self) -> None:
        self.process.close()
        self.process = redis(self.port)

    def close(self) -> None:
        self.process.close()
        nudging.breaker.reset()
        product.set_default()

    def sweep(self) -> None:
        self.app.send_task(SWEEP, retry=True)


@pytest.fixture
def broker(settings) -> Iterator[Broker]:
    broker = Broker()
    broker.app.set_default()
    settings.REDIS_URL = broker.url
    nudging.breaker.reset()
    yield broker
    broker.close()


def kill_a_child_of(process: Process) -> None:
    eventually(lambda: any("ready." in line for line in process.lines()) and children_of(process))
    os.kill(children_of(process)[0], signal.SIGKILL)


def children_of(process: Process) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True)
    pairs = [line.split() for line in listed.stdout.decode().splitlines()]
    return [int(pid) for pid, parent in pairs if int(parent) == process.pid]


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
def test_a_killed_pool_child_loses_nothing(bench, broker):
    process = worker(bench.server.base_url, broker.url, concurrency=1)
    with running(process):
        bench.server.behave(delay_s=0.2)
        bench.save(150)
        eventually(lambda: bench.under_way() and bench.indexed() >= 64)
        kill_a_child_of(process)
        bench.server.behave()
        bench.ten_seconds_pass()
        broker.sweep()
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
