"""Rows of the fault matrix (docs/reliability.md) that have no room of their own."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import DatabaseError, OperationalError, connection, connections

from knowledge.models import IndexState, Item
from tenants.isolation import organization_context
from tests.embedders import CountingEmbedder
from tests.processes import drain, eventually, running
from tests.voice import Runtime, runtime
from tests.world import World, world

both = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
HOURS = "When does the pelican lounge open?"
DEADLINE_S = 5.5


@pytest.fixture
def here() -> World:
    return world()


@pytest.fixture
def voice(here, monkeypatch) -> Runtime:
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)
    return runtime(here.acme.organization)


@contextmanager
def in_a_thread(work) -> Iterator[threading.Thread]:
    """Work beside the block, on connections of its own; what it raises is raised at the end."""
    raised: list[BaseException] = []

    def run():
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    yield thread
    thread.join(60)
    for error in raised:
        raise error


@contextmanager
def holding(alias: str, statement: str) -> Iterator[None]:
    """Hold what a statement takes, in a transaction on another connection, while the block runs."""
    taken, let_go = threading.Event(), threading.Event()

    def hold():
        made = connections[alias]
        made.set_autocommit(False)
        with made.cursor() as cursor:
            cursor.execute(statement)
            taken.set()
            let_go.wait(60)
        made.rollback()

    with in_a_thread(hold):
        assert taken.wait(30)
        try:
            yield
        finally:
            let_go.set()


def timed(ask):
    began = time.monotonic()
    answer = ask()
    return answer, time.monotonic() - began


@both
def test_f4_a_table_that_is_locked_costs_a_search_no_more_than_its_deadline(here, voice, figures):
    session = voice.session(here.receptionist)

    def ask():
        return voice.search(here.receptionist, session, HOURS, **{"X-Deadline-Ms": "1500"})

    with holding("owner", "LOCK TABLE knowledge_item IN ACCESS EXCLUSIVE MODE"):
        answer, took = timed(ask)
    figures(answered_after_s=round(took, 2), status=answer.json()["status"])
    assert answer.json()["status"] in {"timeout", "unavailable"}
    assert took < DEADLINE_S
    assert ask().json()["status"] == "ok"


@both
def test_f12_a_migration_that_cannot_have_its_lock_gives_up_before_searches_do(
    here, voice, figures
):
    """A long reader keeps the table; the migration behind it would block everybody behind itself."""
    session = voice.session(here.receptionist)
    alter = "ALTER TABLE knowledge_item ADD COLUMN later text"
    gave_up: list[float] = []

    def migrate():
        began = time.monotonic()
        with pytest.raises(OperationalError), connections["owner"].cursor() as cursor:
            cursor.execute(alter)
        gave_up.append(time.monotonic() - began)

    slowest = 0.0
    with holding("default", "SELECT count(*) FROM knowledge_item"), in_a_thread(migrate) as thread:
        while thread.is_alive():
            answer, took = timed(lambda: voice.search(here.receptionist, session, HOURS))
            assert answer.json()["status"] == "ok"
            slowest = max(slowest, took)
    figures(gave_up_after_s=round(gave_up[0], 2), slowest_search_s=round(slowest, 2))
    assert slowest < DEADLINE_S
    with connections["owner"].cursor() as cursor:
        cursor.execute(alter)
        try:
            assert voice.search(here.receptionist, session, HOURS).json()["status"] == "ok"
        finally:
            cursor.execute("ALTER TABLE knowledge_item DROP COLUMN later")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", ["an error", "a cancelled statement", "nothing"])
def test_f11_a_connection_that_served_one_organization_shows_the_next_nothing(here, end):
    def use():
        with organization_context(here.acme.organization.pk), connection.cursor() as cursor:
            assert Item.objects.exists()
            if end == "an error":
                cursor.execute("SELECT 1 / 0")
            if end == "a cancelled statement":
                cursor.execute("SET LOCAL statement_timeout = '20ms'")
                cursor.execute("SELECT pg_sleep(5)")

    same = connection.connection
    if end == "nothing":
        use()
    else:
        with pytest.raises(DatabaseError):
            use()
    assert connection.connection is same
    assert not Item.objects.exists()
    with organization_context(here.globex.organization.pk):
        assert {item.organization_id for item in Item.objects.all()} == {
            here.globex.organization.pk
        }


@both
def test_f6_an_index_that_cannot_be_written_costs_no_save_and_catches_up(bench):
    def privilege(verb, way):
        with connections["owner"].cursor() as cursor:
            for table in ("knowledge_document", "knowledge_chunk", "knowledge_vector"):
                cursor.execute(f"{verb} INSERT ON {table} {way} earmark_app")

    privilege("REVOKE", "FROM")
    try:
        with running(process := drain(bench.server.base_url)):
            bench.save(3)
            eventually(
                lambda: any("database" in line or "failed" in line for line in process.lines())
            )
            assert bench.indexed() == 0
            with organization_context(bench.organization_id):
                assert Item.objects.count() == 3
                assert IndexState.objects.filter(applied_generation=0).count() == 3
            privilege("GRANT", "TO")
            bench.ten_seconds_pass()
            bench.converged()
    finally:
        privilege("GRANT", "TO")


@pytest.mark.django_db(transaction=True)
def test_f7_a_drain_that_wakes_up_after_its_lease_writes_nothing_old(bench):
    bench.server.behave(delay_s=1.0)
    with running(sleeper := drain(bench.server.base_url)):
        bench.save(8)
        eventually(bench.under_way)
        sleeper.send(signal.SIGSTOP)
        bench.ten_seconds_pass()
        bench.save(8, said="It now says")
        bench.server.behave()
        with running(drain(bench.server.base_url)):
            bench.converged()
            sleeper.send(signal.SIGCONT)
            bench.save(2, said="At last it says")
            bench.converged()
        assert sleeper.is_alive
        bench.index_equals_truth()
