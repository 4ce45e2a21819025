"""A publish never waits for, fails with, or is undone by the index."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest
from django.db import connection, connections

from config.embedded import describe
from config.provision import APP
from golden import drafting, publishing
from golden.acting import Act
from golden.models import GoldenAnswer
from knowledge.indexing import nudging
from knowledge.models import Document, Item
from tenants.auditing import Actor
from tests.answers import CONTENT
from tests.faults.test_celery import broker  # noqa: F401
from tests.processes import drain, eventually, running, worker

BY = Actor.process("tests")
# A second, and what the machine may be doing beside; one that waited for the broker takes five.
PROMPT_S = 1.0 + 1.5
SOON_S = 30.0


class Desk:
    """Publishes answers and says how long each publish took."""

    def __init__(self, bench):
        self.bench, self.answers = bench, []

    def act(self):
        return Act(BY, datetime.now(tz=UTC), "Because.")

    def publish(self, text):
        content = replace(CONTENT, answer=text)
        made = drafting.create_answer(self.bench.acme.organization, content, self.act())
        self.answers.append(made.pk)
        return self._timed(publishing.override_publish, made.pk)

    def publish_again(self, text):
        content, pk = replace(CONTENT, answer=text), self.answers[-1]
        lock_version = self._row(pk).lock_version
        drafting.save_draft(
            self.bench.organization_id, pk, content, self.act(), lock_version=lock_version
        )
        return self._timed(publishing.override_publish, pk)

    def archive(self):
        return self._timed(publishing.archive, self.answers[-1])

    def _row(self, pk):
        with self.bench.acme.context():
            return GoldenAnswer.objects.get(pk=pk)

    def _timed(self, verb, pk):
        began = time.monotonic()
        verb(self.bench.organization_id, pk, self.act())
        return time.monotonic() - began

    def served(self):
        with self.bench.acme.context():
            live = Item.objects.exclude(published_version=None)
            return sorted(live.values_list("body", flat=True))


@pytest.fixture
def desk(bench):
    desk = Desk(bench)
    desk.publish("Said first, to warm up.")
    return desk


def indexed_is_published(bench):
    with bench.acme.context():
        indexed = sorted(map(str, Document.objects.values_list("asset_id", flat=True)))
        live = Item.objects.exclude(published_version=None)
        return indexed == sorted(map(str, live.values_list("pk", flat=True)))


def at_rest(bench):
    eventually(bench.nothing_waits, within_s=SOON_S)
    assert indexed_is_published(bench)


def killed_before_it_claims(bench, desk, process):
    process.send(signal.SIGSTOP)
    took = desk.publish("It is on the third floor.")
    process.kill()
    return took


def killed_while_embedding(bench, desk, process):
    bench.server.behave("silent")
    took = desk.publish("It is on the third floor.")
    eventually(lambda: bench.under_way() and bench.server.calls > 0)
    process.kill()
    return took


def killed_in_the_apply_transaction(bench, desk, process):
    name = connections["default"].settings_dict["NAME"]
    with psycopg.connect(describe("test").url(APP, name)) as other:
        other.execute("LOCK TABLE knowledge_chunk IN SHARE MODE")
        took = desk.publish("It is on the third floor.")
        eventually(somebody_waits)
        process.kill()
    return took


def killed_after_the_commit(bench, desk, process):
    took = desk.publish("It is on the third floor.")
    eventually(bench.nothing_waits)
    process.kill()
    return took


def somebody_waits():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0]


@pytest.mark.parametrize(
    "window",
    [
        killed_before_it_claims,
        killed_while_embedding,
        killed_in_the_apply_transaction,
        killed_after_the_commit,
    ],
)
def test_a_drain_killed_in_any_window_costs_a_publish_nothing(bench, desk, window):
    first = drain(bench.server.base_url)
    with running(first):
        eventually(bench.nothing_waits)
        took = window(bench, desk, first)
        bench.server.behave()
        bench.ten_seconds_pass()
        with running(drain(bench.server.base_url)):
            at_rest(bench)
    assert took < PROMPT_S
    assert "It is on the third floor." in desk.served()


def test_an_answer_archived_while_no_drain_runs_is_not_indexed_when_one_starts(bench, desk):
    with running(drain(bench.server.base_url)):
        at_rest(bench)
    assert desk.archive() < PROMPT_S
    with running(drain(bench.server.base_url)):
        at_rest(bench)
    assert desk.served() == []


def test_a_broker_that_refuses_costs_a_publish_nothing(bench, desk, broker):  # noqa: F811
    broker.process.close()
    took = [desk.publish("It moved."), desk.publish_again("It moved again.")]
    broker.restart()
    nudging.breaker.reset()
    with running(worker(bench.server.base_url, broker.url)):
        broker.sweep()
        at_rest(bench)
    assert max(took) < PROMPT_S
    assert "It moved again." in desk.served()


def test_a_broker_that_is_silent_costs_a_publish_nothing(bench, desk, broker):  # noqa: F811
    broker.process.send(signal.SIGSTOP)
    took = [desk.publish("It moved."), desk.publish_again("It moved again.")]
    broker.process.send(signal.SIGCONT)
    nudging.breaker.reset()
    with running(worker(bench.server.base_url, broker.url)):
        broker.sweep()
        at_rest(bench)
    assert max(took) < PROMPT_S


def test_publishing_from_several_sides_at_once_ends_with_one_document_each(bench, desk):
    threads = [threading.Thread(target=_publish, args=(desk, n)) for n in range(8)]
    with running(drain(bench.server.base_url), drain(bench.server.base_url)):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        at_rest(bench)
    assert len(desk.served()) == 9


def _publish(desk, number):
    try:
        desk.publish(f"It is on floor {number}.")
    finally:
        connection.close()
