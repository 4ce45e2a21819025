"""A dozen answers are published, rolled back and archived while everything around them fails."""

from __future__ import annotations

import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection
from redis import Redis

from knowledge.models import Document, Item
from tests.editor import Editor
from tests.faults import test_chaos
from tests.faults.conftest import Bench
from tests.faults.modes import Broker, kill_a_child_of, used_broker
from tests.faults.tenants import Tenants
from tests.faults.test_chaos import Fleet
from tests.processes import beat, drain, eventually, redis, worker

PROMPT_S = 1.0
# Every process of the product shares the machine with the faults, and with whatever else runs.
NOISE_S = 1.5
CONVERGED_WITHIN_S = 60.0
Faults = Sequence[Callable[[], object]]
server, bench = test_chaos.server, test_chaos.bench


def go_through(bench: Bench, fleet: Fleet, faults: Faults, *, pause_s: float) -> Editor:
    editor = Editor(bench)
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(editor.work)
        try:
            for fault in faults:
                time.sleep(pause_s)
                fleet.revive()
                fault()
            time.sleep(pause_s)
        finally:
            editor.stop.set()
        working.result()
    connection.close()
    return editor


def come_to_rest(bench: Bench, fleet: Fleet, sweep: Callable[[], object]) -> None:
    def rests() -> bool:
        fleet.revive()
        sweep()
        return bench.nothing_waits()

    bench.server.behave()
    eventually(rests, within_s=CONVERGED_WITHIN_S)


def published_is_indexed(bench: Bench, editor: Editor) -> None:
    said = {str(pk): text for pk, text in editor.said.items() if text is not None}
    with bench.acme.context():
        live = list(Item.objects.exclude(published_version=None))
        assert {item.external_id: item.body for item in live} == said
        should = sorted((item.pk, item.generation) for item in live)
        assert sorted(Document.objects.values_list("asset_id", "generation")) == should


def accounted(bench: Bench, editor: Editor, tenants: Tenants, *written: str) -> dict[str, object]:
    """Assert that nothing is lost, doubled or leaked; return what it came to."""
    published_is_indexed(bench, editor)
    return {
        "verbs": " ".join(f"{name} {count}" for name, count in sorted(editor.verbs.items())),
        "refused by the database": editor.refused,
        "median s": round(statistics.median(editor.took), 3),
        "longest s": round(max(editor.took), 2),
        **tenants.account(*written),
    }


def nobody_waited(editor: Editor) -> None:
    assert set(editor.verbs) == {"publish", "roll back", "archive"}
    assert editor.refused >= 2, "The database did not crash under anybody."
    assert statistics.median(editor.took) < PROMPT_S
    assert max(editor.took) < PROMPT_S + NOISE_S


def refused_for_a_while(broker: Broker) -> None:
    broker.process.close()
    time.sleep(1.5)
    broker.process = redis(broker.port)


def silent_for_a_while(broker: Broker) -> None:
    broker.process.send(signal.SIGSTOP)
    time.sleep(1.5)
    broker.process.send(signal.SIGCONT)


def flushed(broker: Broker) -> None:
    with Redis.from_url(broker.url) as client:
        client.flushall()


@contextmanager
def run_by(*starters) -> Iterator[Fleet]:
    fleet = Fleet(*starters)
    try:
        yield fleet
    finally:
        fleet.end()


def drain_faults(fleet, server) -> Faults:
    kill = lambda: fleet.kill(0)  # noqa: E731
    return [kill, server.restart_immediately, kill, server.restart_immediately, kill]


def celery_faults(fleet, server, broker) -> Faults:
    return [
        lambda: kill_a_child_of(fleet.processes[0]),
        lambda: refused_for_a_while(broker),
        server.restart_immediately,
        lambda: flushed(broker),
        lambda: fleet.kill(0),
        lambda: silent_for_a_while(broker),
        broker.restart,
        server.restart_immediately,
    ]


def test_f1_f4_publishing_outlives_a_killed_drain_and_a_database_that_crashes_twice(
    bench, server, tenants, figures
):
    with run_by(lambda: drain(bench.server.base_url)) as fleet:
        editor = go_through(bench, fleet, drain_faults(fleet, server), pause_s=1.5)
        bench.ten_seconds_pass()
        come_to_rest(bench, fleet, lambda: None)
        found = accounted(bench, editor, tenants, fleet.written())
    figures("F1 and F4, publishing", "drain", **found)
    nobody_waited(editor)


def test_f1_f2_f4_publishing_outlives_killed_workers_a_failing_broker_and_a_crashing_database(
    bench, server, tenants, settings, figures
):
    with (
        used_broker(settings) as broker,
        run_by(lambda: worker(bench.server.base_url, broker.url)) as fleet,
    ):
        editor = go_through(bench, fleet, celery_faults(fleet, server, broker), pause_s=0.7)
        bench.ten_seconds_pass()
        come_to_rest(bench, fleet, every_second(broker.sweep))
        found = accounted(bench, editor, tenants, fleet.written(), broker.holds())
    figures("F1, F2 and F4, publishing", "Celery", **found)
    nobody_waited(editor)


def every_second(act: Callable[[], object]) -> Callable[[], None]:
    """What the schedule does, without waiting for it."""
    last = [0.0]

    def run() -> None:
        if time.monotonic() - last[0] >= 1.0:
            last[0] = time.monotonic()
            act()

    return run


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_f1_f4_publishing_outlives_drains_that_are_killed_again_and_again(
    bench, server, tenants, figures
):
    starters = [lambda: drain(bench.server.base_url)] * 2
    with run_by(*starters) as fleet:
        faults = [*drain_faults(fleet, server), lambda: fleet.kill(1)] * 4
        editor = go_through(bench, fleet, faults, pause_s=4)
        come_to_rest(bench, fleet, lambda: None)
        found = accounted(bench, editor, tenants, fleet.written())
    figures("F1 and F4, publishing for two minutes", "drain", **found)
    nobody_waited(editor)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_f1_f2_f4_publishing_outlives_workers_and_a_broker_that_fail_again_and_again(
    bench, server, tenants, settings, figures
):
    with used_broker(settings) as broker:
        where = (bench.server.base_url, broker.url)
        with run_by(lambda: worker(*where), lambda: beat(*where)) as fleet:
            faults = [*celery_faults(fleet, server, broker), lambda: fleet.kill(1)] * 3
            editor = go_through(bench, fleet, faults, pause_s=4)
            come_to_rest(bench, fleet, lambda: None)
            found = accounted(bench, editor, tenants, fleet.written(), broker.holds())
    figures("F1, F2 and F4, publishing for two minutes", "Celery", **found)
    nobody_waited(editor)
