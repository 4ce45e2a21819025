from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from django.db import Error, connection

from knowledge.indexing.embedded import MOST_TEXTS
from tests.faults.conftest import Bench
from tests.faults.modes import kill_a_child_of, used_broker
from tests.openai_server import OpenAIServer
from tests.processes import Process, beat, drain, eventually, worker
from tests.servers import OwnServer, own_server
from tests.world import tenant

DOCUMENTS = 2_000
FAULTS = 8
PAUSE_S = 1.5
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def server(django_db_setup, django_db_blocker) -> Iterator[OwnServer]:
    with django_db_blocker.unblock(), own_server() as server:
        yield server


@pytest.fixture
def bench(server) -> Iterator[Bench]:
    with OpenAIServer() as embedding:
        embedding.behave(delay_s=0.05)
        yield Bench(tenant("acme"), embedding)


class Fleet:
    """The product's processes; whatever is killed is started again, as a supervisor does.

    So is what ends by itself: kombu's Redis channel, closed while its broker is away and a message is
    not acknowledged, raises an AttributeError that ends the worker with code 1 within seconds. Without
    a supervisor nothing converges after that, however long one waits.
    """

    def __init__(self, *starters: Callable[[], Process]) -> None:
        self.starters = starters
        self.processes = [start() for start in starters]
        self.logged: list[str] = []

    def kill(self, number: int) -> None:
        self.logged += self.processes[number].lines()
        self.processes[number].close()
        self.processes[number] = self.starters[number]()

    def revive(self) -> None:
        for number, process in enumerate(self.processes):
            if not process.is_alive:
                self.kill(number)

    def written(self) -> str:
        """All that was logged, by the dead too."""
        living = [line for process in self.processes for line in process.lines()]
        return "\n".join([*self.logged, *living])

    def end(self) -> None:
        for process in self.processes:
            process.close()


def bring_in(bench: Bench) -> threading.Thread:
    """Save from a thread, each transaction until it holds, as a resumed import does."""

    def run() -> None:
        for first in range(0, DOCUMENTS, 50):
            while not saved(first):
                time.sleep(0.2)
        connection.close()

    def saved(first: int) -> bool:
        try:
            bench.save(50, first=first)
        except Error:
            connection.close()
            return False
        return True

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def at_rest(bench: Bench, fleet: Fleet) -> bool:
    fleet.revive()
    return bench.nothing_waits()


def go_through(bench: Bench, fleet: Fleet, faults: list[Callable[[], None]]) -> dict[str, object]:
    bringing_in = bring_in(bench)
    chance = random.Random(7)
    for _ in range(FAULTS):
        time.sleep(PAUSE_S)
        fleet.revive()
        chance.choice(faults)()
    bringing_in.join()
    connection.close()
    bench.server.behave()
    began = time.monotonic()
    eventually(lambda: at_rest(bench, fleet), within_s=240)
    seconds = round(time.monotonic() - began, 1)
    bench.index_equals_truth()
    assert bench.indexed() == DOCUMENTS
    return {"faults": FAULTS, "indexed_after_s": seconds, "paid_twice": bench.paid_twice()}


def test_f1_f4_drains_that_are_killed_and_a_database_that_crashes_lose_nothing(
    bench, server, tenants, figures
):
    fleet = Fleet(*[lambda: drain(bench.server.base_url)] * 2)
    try:
        kills = [lambda: fleet.kill(0), lambda: fleet.kill(1)]
        found = go_through(bench, fleet, [*kills, server.restart_immediately])
        figures("F1 and F4, chaos", "drain", **found, **tenants.account(fleet.written()))
    finally:
        fleet.end()
    assert bench.paid_twice() <= FAULTS * 2 * MOST_TEXTS


def test_f1_f2_f4_workers_that_are_killed_and_a_broker_that_forgets_lose_nothing(
    bench, server, tenants, settings, figures
):
    with used_broker(settings) as broker:
        arguments = (bench.server.base_url, broker.url)
        fleet = Fleet(lambda: worker(*arguments), lambda: beat(*arguments))
        try:
            child = lambda: kill_a_child_of(fleet.processes[0])  # noqa: E731
            faults = [lambda: fleet.kill(0), child, broker.restart, server.restart_immediately]
            found = go_through(bench, fleet, faults)
            written = fleet.written(), broker.holds()
            figures("F1, F2 and F4, chaos", "Celery", **found, **tenants.account(*written))
        finally:
            fleet.end()
    assert bench.paid_twice() <= FAULTS * 2 * MOST_TEXTS
