"""What is held while a search waits, how long its statements may take, and what is left behind."""

from __future__ import annotations

import threading
import time
from typing import Any, cast

import pytest
from django.db import connection, connections

from config.database.base import DatabaseWrapper
from config.database.pooling import forget_connections, share_connections
from knowledge.embedding.query_cache import CachedEmbedder, QueryCache
from knowledge.retrieval import bounding
from knowledge.retrieval.deadline import Deadline
from tests.embedders import CountingEmbedder
from tests.voice import runtime
from tests.world import world

pytestmark = pytest.mark.django_db(transaction=True)
HOURS = "When does the pelican lounge open?"


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


@pytest.fixture
def pool(voice):
    """Two connections for however many threads."""
    connections.close_all()
    entry = connections.settings["default"]
    before = entry["CONN_MAX_AGE"]
    share_connections(2)
    yield
    forget_connections()
    entry["CONN_MAX_AGE"] = before
    del entry["OPTIONS"]["pool"]


def waiting(monkeypatch, wait):
    embedder = CountingEmbedder(before=lambda _texts: wait())
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: embedder)


def shared() -> Any:
    return cast(DatabaseWrapper, connections["default"]).pool


def taken() -> int:
    stats = shared().get_stats()
    return int(stats["pool_size"] - stats["pool_available"])


def until(holds, seconds=5.0):
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def at_once(count, act):
    """Do the same in many threads; return what each returned."""
    told = []

    def one():
        try:
            told.append(act())
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return told


def test_no_shared_connection_is_held_while_the_embedding_is_awaited(
    here, voice, pool, monkeypatch
):
    held = []

    def look():
        # The pool takes a connection back on a thread of its own.
        until(lambda: not taken())
        held.append(connection.connection)

    waiting(monkeypatch, look)
    session = voice.session(here.receptionist)
    assert voice.search(here.receptionist, session, HOURS).json()["status"] == "ok"
    assert held == [None]


def test_more_searches_wait_for_their_embedding_than_there_are_connections(
    here, voice, pool, monkeypatch
):
    together = threading.Barrier(6, timeout=10)
    waiting(monkeypatch, together.wait)
    session = voice.session(here.receptionist)
    answers = at_once(6, lambda: voice.search(here.receptionist, session, HOURS).json())
    assert [answer["status"] for answer in answers] == ["ok"] * 6


def test_when_every_connection_is_taken_the_search_says_so_in_time(here, voice, pool, monkeypatch):
    waiting(monkeypatch, lambda: None)
    session = voice.session(here.receptionist)
    connection.close()
    taken = [shared().getconn() for _ in range(2)]
    try:
        began = time.monotonic()
        answer = voice.search(here.receptionist, session, HOURS)
        assert time.monotonic() - began < 5
    finally:
        for one in taken:
            shared().putconn(one)
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "database_away"
    assert voice.search(here.receptionist, session, HOURS).status_code == 200


def test_a_statement_may_take_what_remains_and_no_longer(here, voice, monkeypatch):
    limits = []

    def note(execute, sql, params, many, context):
        if "app.organization" in sql and "statement_timeout" in sql:
            limits.append(int(params[1].removesuffix("ms")))
        return execute(sql, params, many, context)

    waiting(monkeypatch, lambda: time.sleep(0.5))
    session = voice.session(here.receptionist)
    with connection.execute_wrapper(note):
        voice.search(here.receptionist, session, HOURS, **{"X-Deadline-Ms": "3500"})
    before, after, record = limits
    assert record <= after + 300
    assert 2_500 < before <= 3_000
    assert 1_500 < after <= before - 490


def test_a_statement_that_takes_too_long_is_ended_by_the_deadline(here, voice, monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)

    def slow(*_args, **_kwargs):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(10)")

    monkeypatch.setattr("scopes.asking.allowlist_for", slow)
    session = voice.session(here.receptionist)
    began = time.monotonic()
    answer = voice.search(here.receptionist, session, HOURS, **{"X-Deadline-Ms": "1500"})
    assert answer.json()["status"] == "timeout"
    assert time.monotonic() - began < 2


def test_a_question_that_was_embedded_before_needs_no_time_for_it(here, voice, monkeypatch):
    embedder = CachedEmbedder(CountingEmbedder(), QueryCache())
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: embedder)
    session = voice.session(here.receptionist)
    told = [
        voice.search(here.receptionist, session, HOURS, **{"X-Deadline-Ms": milliseconds}).json()
        for milliseconds in ("1600", "5500", "1600")
    ]
    assert [answer["degraded"] for answer in told] == [["dense"], [], []]


def test_several_statements_together_end_with_the_deadline_too(here, voice, monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)
    begun = []

    def slow(*_args, **_kwargs):
        for _ in range(5):
            with connection.cursor() as cursor:
                begun.append(cursor.execute("SELECT pg_sleep(0.6)"))

    monkeypatch.setattr("scopes.asking.allowlist_for", slow)
    session = voice.session(here.receptionist)
    began = time.monotonic()
    answer = voice.search(here.receptionist, session, HOURS, **{"X-Deadline-Ms": "2000"})
    assert answer.json()["status"] == "timeout"
    assert len(begun) == 1
    assert time.monotonic() - began < 2


def test_a_statement_that_follows_quickly_pays_for_no_timeout_of_its_own(voice):
    limits = []

    def note(execute, sql, params, many, context):
        limits.append(sql)
        return execute(sql, params, many, context)

    stands_still = Deadline(ends=10.0, clock=lambda: 1.0)
    with (
        connection.execute_wrapper(note),
        bounding.until(stands_still),
        connection.cursor() as cursor,
    ):
        for _ in range(3):
            cursor.execute("SELECT 1")
    assert sum("statement_timeout" in one for one in limits) == 1
