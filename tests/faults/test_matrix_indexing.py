"""Faults F1 to F8 and F14 of the matrix (docs/reliability.md) while changes are brought into the index.

Each in either way of indexing, with a word of its own in every organization; each prints its figures.
"""

from __future__ import annotations

import signal
import threading
import time
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.db import connection, connections
from redis import Redis

from config.embedded import describe
from config.provision import APP
from knowledge.indexing import nudging
from knowledge.indexing.draining import Drain
from knowledge.models import IndexState
from tenants.isolation import organization_context
from tests.faults.desk import PROMPT_S, Desk
from tests.faults.modes import Workers, kill_a_child_of, used_broker
from tests.processes import eventually

owner = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
WRONG = ("error_body", "empty", "hung_up", "broken", "gapped", "repeated", "short", "zeros",
         "truncated", "html", "rate_limited", "unavailable")  # fmt: skip
MOVED = "It is on the third floor."


@pytest.fixture
def desk(bench, tenants):
    desk = Desk(bench)
    desk.publish("Said first, to warm up.")
    return desk


@pytest.fixture
def workers(bench, settings):
    """The way of indexing that has a broker."""
    with used_broker(settings) as broker:
        made = Workers(bench.server, broker)
        yield made
        made.close()


def killed_before_it_claims(bench, desk, process):
    process.send(signal.SIGSTOP)
    took = desk.publish(MOVED)
    process.kill()
    return took


def killed_while_embedding(bench, desk, process):
    asked = bench.server.calls
    bench.server.behave("silent")
    took = desk.publish(MOVED)
    eventually(lambda: bench.under_way() and bench.server.calls > asked)
    process.kill()
    return took


def killed_in_the_apply_transaction(bench, desk, process):
    name = connections["default"].settings_dict["NAME"]
    with psycopg.connect(describe("test").url(APP, name)) as other:
        other.execute("LOCK TABLE knowledge_chunk IN SHARE MODE")
        took = desk.publish(MOVED)
        eventually(somebody_waits)
        process.kill()
    return took


def killed_after_the_commit(bench, desk, process):
    took = desk.publish(MOVED)
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
        killed_while_embedding,
        killed_in_the_apply_transaction,
        pytest.param(killed_before_it_claims, marks=pytest.mark.slow),
        pytest.param(killed_after_the_commit, marks=pytest.mark.slow),
    ],
)
def test_f1_killed_in_any_window_costs_a_publish_nothing(
    bench, desk, tenants, mode, window, figures
):
    first = mode.start()
    tenants.come_to_rest(mode)
    took = window(bench, desk, first)
    bench.server.behave()
    tenants.ask()
    bench.ten_seconds_pass()
    mode.start()
    seconds = tenants.come_to_rest(mode)
    figures(
        f"F1, {window.__name__.replace('_', ' ')}", mode.name, publish_s=round(took, 2),
        indexed_after_s=seconds, **desk.account(), **tenants.account(mode.written()),
    )  # fmt: skip
    assert took < PROMPT_S
    assert MOVED in desk.served()


@pytest.mark.slow
def test_f1_a_killed_pool_child_loses_nothing(bench, tenants, workers, figures):
    process = workers.start()
    bench.server.behave(delay_s=0.2)
    bench.save(150)
    tenants.say(3)
    eventually(lambda: bench.under_way() and bench.indexed() >= 64)
    kill_a_child_of(process)
    bench.server.behave()
    bench.ten_seconds_pass()
    seconds = tenants.come_to_rest(workers)
    figures(
        "F1, pool child killed", workers.name, indexed_after_s=seconds,
        **tenants.account(workers.written()),
    )  # fmt: skip


def refused(desk, broker):
    broker.process.close()
    took = [desk.publish("It moved."), desk.publish_again("It moved again.")]
    broker.restart()
    return took


def silent(desk, broker):
    broker.process.send(signal.SIGSTOP)
    took = [desk.publish("It moved."), desk.publish_again("It moved again.")]
    broker.process.send(signal.SIGCONT)
    return took


def flushed(desk, broker):
    took = [desk.publish("It moved.")]
    with Redis.from_url(broker.url) as client:
        eventually(lambda: client.llen("earmark") > 0)
        client.flushall()
    return [*took, desk.publish_again("It moved again.")]


def restarted(desk, broker):
    took = [desk.publish("It moved.")]
    broker.restart()
    return [*took, desk.publish_again("It moved again.")]


@pytest.mark.parametrize(
    "fault",
    [
        refused,
        pytest.param(silent, marks=pytest.mark.slow),
        pytest.param(flushed, marks=pytest.mark.slow),
        pytest.param(restarted, marks=pytest.mark.slow),
    ],
)
def test_f2_a_broker_that_fails_costs_a_publish_nothing(desk, tenants, workers, fault, figures):
    took = fault(desk, workers.broker)
    tenants.ask()
    nudging.breaker.reset()
    workers.start()
    seconds = tenants.come_to_rest(workers)
    figures(
        f"F2, broker {fault.__name__}", workers.name, slowest_publish_s=round(max(took), 2),
        indexed_after_s=seconds, **desk.account(), **tenants.account(workers.written()),
    )  # fmt: skip
    assert max(took) < PROMPT_S
    assert "It moved again." in desk.served()


def come_again_and_in_another_order(mode):
    """Nudge once more for everything; where messages lie in a broker, double and turn them round."""
    for _ in range(10):
        nudging.nudge()
    if isinstance(mode, Workers):
        with Redis.from_url(mode.broker.url) as client:
            messages = client.lrange("earmark", 0, -1)
            assert messages
            client.delete("earmark")
            client.rpush("earmark", *messages[::-1], *messages)


@pytest.mark.slow
def test_f3_messages_that_come_twice_and_in_the_wrong_order_end_with_what_is_live(
    desk, tenants, mode, figures
):
    before = desk.live_version()
    desk.publish_again("It moved.")
    desk.publish_again("It moved again.")
    desk.roll_back(before, "Said first, to warm up.")
    desk.publish("Another.")
    desk.archive()
    desk.publish("A third.")
    come_again_and_in_another_order(mode)
    both = mode.start(), mode.start()
    come_again_and_in_another_order(mode)
    seconds = tenants.come_to_rest(mode)
    figures(
        "F3, messages twice and turned round", mode.name, indexed_after_s=seconds,
        **desk.account(), **tenants.account(mode.written()),
    )  # fmt: skip
    assert all(process.is_alive for process in both)
    assert desk.served() == ["A third.", "Said first, to warm up."]


@pytest.mark.slow
def test_f4_connections_that_are_lost_lose_nothing(bench, tenants, mode, figures):
    process = mode.start()
    tenants.say(3)
    tenants.come_to_rest(mode)
    bench.server.behave(delay_s=0.3)
    tenants.say(3, text="The heron now stands on leg")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND usename = current_user"
        )
        ended = cursor.fetchone()[0]
    bench.server.behave()
    seconds = tenants.come_to_rest(mode)
    figures(
        "F4, connections lost", mode.name, connections_ended=ended, indexed_after_s=seconds,
        **tenants.account(mode.written()),
    )  # fmt: skip
    assert ended > 0
    assert process.is_alive


@pytest.mark.parametrize(
    "behaviour",
    ["not_a_number", *(pytest.param(name, marks=pytest.mark.slow) for name in WRONG)],
)
def test_f5_a_wrong_answer_is_not_stored_and_asked_for_again(
    bench, tenants, mode, behaviour, figures
):
    asked = bench.server.calls
    bench.server.behave(behaviour, times=1)
    tenants.say(2)
    mode.start()
    seconds = tenants.come_to_rest(mode)
    figures(
        f"F5 while indexing, {behaviour}", mode.name, calls=bench.server.calls - asked,
        indexed_after_s=seconds, **tenants.account(mode.written()),
    )  # fmt: skip


@owner
def test_f6_an_index_that_cannot_be_written_costs_no_save_and_catches_up(
    bench, tenants, mode, figures
):
    def privilege(verb, way):
        with connections["owner"].cursor() as cursor:
            for table in ("knowledge_document", "knowledge_chunk", "knowledge_vector"):
                cursor.execute(f"{verb} INSERT ON {table} {way} earmark_app")

    privilege("REVOKE", "FROM")
    try:
        mode.start()
        began = time.monotonic()
        bench.save(3)
        tenants.say(1)
        saved = time.monotonic() - began
        eventually(lambda: mode.sweep() or told_why(bench))
        assert bench.indexed() == 0
        tenants.ask()
    finally:
        privilege("GRANT", "TO")
    bench.ten_seconds_pass()
    seconds = tenants.come_to_rest(mode)
    figures(
        "F6, index not writable", mode.name, saves_s=round(saved, 2), indexed_after_s=seconds,
        **tenants.account(mode.written()),
    )  # fmt: skip


def told_why(bench):
    with organization_context(bench.organization_id):
        states = IndexState.objects.exclude(last_error_code="")
        return states.filter(applied_generation=0, status="retrying").exists()


def test_f7_one_that_wakes_up_after_its_lease_writes_nothing_old(bench, tenants, mode, figures):
    bench.server.behave(delay_s=1.0)
    sleeper = mode.start()
    bench.save(8)
    eventually(bench.under_way)
    sleeper.send(signal.SIGSTOP)
    tenants.ask()
    bench.ten_seconds_pass()
    bench.save(8, said="It now says")
    bench.server.behave()
    mode.start()
    eventually(lambda: mode.sweep() or bench.nothing_waits())
    sleeper.send(signal.SIGCONT)
    bench.save(2, said="At last it says")
    tenants.say(1)
    seconds = tenants.come_to_rest(mode)
    figures(
        "F7, asleep past its lease", mode.name, indexed_after_s=seconds,
        **tenants.account(mode.written()),
    )  # fmt: skip
    assert sleeper.is_alive


class Elsewhere:
    """An index process in a thread of this one, whose clock is off."""

    def __init__(self, bench, apart):
        self.bench, self.apart, self.touched = bench, apart, 0

    def now(self):
        return datetime.now(tz=UTC) + self.apart

    def work(self):
        try:
            self.touched += Drain(self.bench.embedder(), self.now).step()
        finally:
            connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("minutes", [10, -10], ids=["ahead", "behind"])
def test_f8_clocks_that_are_apart_apply_nothing_twice(bench, tenants, mode, minutes, figures):
    """Whoever comes second takes the first for dead while it embeds, and the first is not obeyed."""
    process = mode.start()
    # It is there once it has indexed something.
    tenants.say(1)
    tenants.come_to_rest(mode)
    process.send(signal.SIGSTOP)
    elsewhere = Elsewhere(bench, timedelta(minutes=minutes))
    thread = threading.Thread(target=elsewhere.work)
    bench.server.behave(delay_s=5.0, times=1)
    bench.save(8)
    with organization_context(bench.organization_id):
        IndexState.objects.update(next_attempt_at=datetime.now(tz=UTC) - timedelta(hours=1))
    starts = [lambda: process.send(signal.SIGCONT), thread.start]
    for start in starts if minutes > 0 else reversed(starts):
        start()
        eventually(lambda: mode.sweep() or bench.under_way() or bench.nothing_waits())
    thread.join()
    seconds = tenants.come_to_rest(mode)
    figures(
        f"F8, a clock {'ahead' if minutes > 0 else 'behind'}", mode.name,
        texts_asked_twice=bench.paid_twice(), indexed_after_s=seconds,
        **tenants.account(mode.written()),
    )  # fmt: skip
    assert elsewhere.touched == 8
    assert bench.paid_twice() > 0, "Nobody took the other for dead."


@pytest.mark.slow
@owner
def test_f14_an_index_that_is_gone_is_made_again_from_the_truth_alone(
    bench, tenants, mode, figures
):
    bench.save(10)
    tenants.say(5)
    first = mode.start()
    tenants.come_to_rest(mode)
    first.kill()
    with connections["owner"].cursor() as cursor:
        for table in ("document", "lexicalentry", "indexstate", "embeddedtext"):
            cursor.execute(f"DELETE FROM knowledge_{table}")
    heard = [one.ask() for one in tenants]
    assert {answer["status"] for answer in heard} == {"no_match"}
    assert bench.indexed() == 0
    began = time.monotonic()
    mode.start()
    mode.reconcile()
    eventually(lambda: not any(one.lost() for one in tenants), within_s=90)
    seconds = round(time.monotonic() - began, 1)
    tenants.come_to_rest(mode)
    figures(
        "F14, the whole index gone", mode.name, indexed_after_s=seconds,
        **tenants.account(mode.written()),
    )  # fmt: skip
