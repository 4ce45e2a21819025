"""Too much is refused at once, and nobody who goes away leaves anything behind."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager
from statistics import median
from urllib.parse import urlsplit

import pytest
from django.db import connections

from tests.embedders import CountingEmbedder
from tests.voice import BASE, names, runtime
from tests.world import world
from voiceapi import admission

pytestmark = pytest.mark.django_db(transaction=True)
PLACES = 2
# By the median of so many, what else the machine does counts for little.
REFUSALS = 21


@pytest.fixture(autouse=True)
def places(settings):
    settings.VOICE_CONCURRENCY = PLACES
    admission._places.cache_clear()
    yield admission._places()
    admission._places.cache_clear()


@pytest.fixture
def gate(monkeypatch):
    """Hold every embedding until it is opened."""
    opened = threading.Event()

    def wait(_texts):
        opened.wait(10)

    embedder = CountingEmbedder(before=wait)
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: embedder)
    yield opened
    opened.set()


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


def free(places):
    return places._value


def until(condition, seconds=5.0):
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def timed(ask):
    began = time.perf_counter()
    return ask(), time.perf_counter() - began


@contextmanager
def busy(here, voice, places):
    """Fill every place with a search that waits for its embedding."""
    session = voice.session(here.receptionist)
    answers = []

    def ask():
        try:
            answers.append(voice.search(here.receptionist, session, "pelican lounge"))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask) for _ in range(PLACES)]
    for thread in threads:
        thread.start()
    until(lambda: free(places) == 0)
    yield answers
    for thread in threads:
        thread.join(10)


def test_one_more_than_there_are_places_is_refused_at_once(here, voice, gate, places):
    with busy(here, voice, places) as answers:
        refused = voice.open(here.receptionist)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
        assert refused.headers["Retry-After"] == "1"
        gate.set()
    assert [answer.status_code for answer in answers] == [200] * PLACES
    assert voice.open(here.receptionist).status_code == 201


def test_refusing_takes_less_than_50_ms_and_asks_nobody(
    here, voice, gate, places, django_assert_num_queries
):
    with busy(here, voice, places):
        with django_assert_num_queries(0):
            refusals = [timed(lambda: voice.open(here.receptionist)) for _ in range(REFUSALS)]
        gate.set()
    assert {refused.status_code for refused, _seconds in refusals} == {503}
    assert median(seconds for _refused, seconds in refusals) < 0.05


def test_an_overloaded_server_still_says_what_it_is(here, voice, gate, places):
    with busy(here, voice, places):
        assert voice.get("/contract").status_code == 200
        gate.set()


def test_every_way_out_gives_its_place_back(here, voice, places, monkeypatch):
    def fail(*_args, **_kwargs):
        raise ZeroDivisionError

    monkeypatch.setattr("voiceapi.searching.ask", fail)
    session = voice.session(here.receptionist)
    for sent in ({"queries": ["a"]}, {}, {"queries": "a"}):
        body = names(here.receptionist) | sent
        voice.post(f"/sessions/{session}/tools/knowledge-search", body)
    voice.post("/sessions", b"[")
    voice.post("/sessions", {}, Authorization="Bearer a.b")
    assert free(places) == PLACES


def leave(live_server, voice, agent, session):
    """Ask, and go away before the answer."""
    body = json.dumps(names(agent) | {"queries": ["pelican lounge"]})
    head = (
        f"POST {BASE}/sessions/{session}/tools/knowledge-search HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {voice.token}\r\nX-Earmark-Contract: 1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    parts = urlsplit(live_server.url)
    with socket.create_connection((parts.hostname, parts.port)) as client:
        client.sendall((head + body).encode())
        yield
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


def backends():
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FILTER (WHERE state LIKE 'idle in transaction%%'), count(*)"
            " FROM pg_stat_activity WHERE datname = current_database()"
        )
        return cursor.fetchone()


def test_a_client_that_goes_away_leaves_nothing_behind(live_server, here, voice, gate, places):
    session = voice.session(here.receptionist)
    before = backends()
    for _ in range(3):
        gate.clear()
        leaving = leave(live_server, voice, here.receptionist, session)
        next(leaving)
        until(lambda: free(places) == PLACES - 1)
        next(leaving, None)
        gate.set()
        until(lambda: free(places) == PLACES)
    until(lambda: backends() == before)


def test_a_body_that_never_comes_gives_its_place_back(live_server, here, voice, places):
    parts = urlsplit(live_server.url)
    head = (
        f"POST {BASE}/sessions HTTP/1.1\r\nHost: localhost\r\nX-Earmark-Contract: 1\r\n"
        f"Authorization: Bearer {voice.token}\r\nContent-Type: application/json\r\n"
        "Content-Length: 100\r\n\r\n{"
    )
    with socket.create_connection((parts.hostname, parts.port)) as client:
        client.sendall(head.encode())
        until(lambda: free(places) == PLACES - 1)
    until(lambda: free(places) == PLACES)
