"""The database ends, falls silent or takes no writes: who asks is told in time, and answered once it is back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import (
    NotSupportedError,
    OperationalError,
    close_old_connections,
    connection,
    connections,
)
from django.utils import timezone
from psycopg.sql import SQL, Identifier

from config.database.bounded import BoundedConnection
from config.database.pooling import forget_connections, share_connections
from config.embedded import ensure_running
from config.provision import SUPERUSER
from knowledge.indexing import leases
from knowledge.indexing.leases import held
from tests.embedders import CountingEmbedder
from tests.relay import Relay
from tests.voice import runtime
from tests.world import world

pytestmark = pytest.mark.django_db(transaction=True)
HOURS = "When does the pelican lounge open?"
DEADLINE_MS = 2500


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


@pytest.fixture
def session(here, voice):
    return voice.session(here.receptionist)


@pytest.fixture
def relay(session) -> Iterator[Relay]:
    """The only way to the database."""
    entry = connections.settings["default"]
    connections.close_all()
    before = entry["HOST"]
    relay = Relay(before)
    relay.open()
    entry["HOST"] = str(relay.folder)
    yield relay
    relay.close()
    connections.close_all()
    entry["HOST"] = before


@pytest.fixture
def pool(relay) -> Iterator[None]:
    yield from _shared()


@pytest.fixture(params=["its own connection", "a shared one"])
def either(request, relay) -> Iterator[None]:
    """A thread has its own connection, or shares a few."""
    if request.param == "its own connection":
        yield
    else:
        yield from _shared()


def _shared() -> Iterator[None]:
    entry = connections.settings["default"]
    before = entry["CONN_MAX_AGE"]
    share_connections(3)
    yield
    connections.close_all()
    forget_connections()
    entry["CONN_MAX_AGE"] = before
    del entry["OPTIONS"]["pool"]


@pytest.fixture
def elsewhere() -> Iterator[Callable[..., Any]]:
    """Do something in a thread that keeps its connection; None if it is not done in time."""
    with ThreadPoolExecutor(1) as thread:

        def did(act: Callable[[], Any], *, within_s: float = 20.0) -> Any:
            try:
                return thread.submit(timed, act).result(within_s)
            except TimeoutError:
                return None

        yield did
        thread.submit(connections.close_all)


def timed(act: Callable[[], Any]) -> tuple[Any, float]:
    began = time.monotonic()
    try:
        return act(), time.monotonic() - began
    finally:
        # What Django does after each request, unless its test client asks.
        close_old_connections()


@pytest.fixture
def ask(here, voice, session, elsewhere, monkeypatch):
    """Search; what it was answered and how long it took, or None if it never was."""
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)
    search = partial(
        voice.search, here.receptionist, session, HOURS, **{"X-Deadline-Ms": str(DEADLINE_MS)}
    )
    return partial(elsewhere, search)


def status(asked: tuple[Any, float] | None) -> int | None:
    return asked and asked[0].status_code


def answered_after(ask, *, within_s: float) -> float:
    began = time.monotonic()
    while status(ask()) != 200:
        assert time.monotonic() - began < within_s, "It was never answered again."
        time.sleep(0.1)
    return time.monotonic() - began


@pytest.mark.slow
def test_searches_are_answered_as_soon_as_the_database_is_back(relay, pool, ask):
    assert status(ask()) == 200
    relay.refuse()
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        assert status(ask()) == 503
        time.sleep(0.2)
    relay.open()
    assert answered_after(ask, within_s=30) < 4


def test_a_search_that_finds_the_database_silent_ends_in_time(relay, either, ask):
    assert status(ask()) == 200
    relay.fall_silent()
    asked = ask()
    relay.go_on()
    assert asked is not None, "The thread was never given back."
    answer, took = asked
    assert answer.status_code in {503, 504}
    assert took < DEADLINE_MS / 1000 + 1
    assert answered_after(ask, within_s=30) < 10


def test_a_search_during_which_the_database_falls_silent_ends_in_time(
    relay, either, ask, monkeypatch
):
    assert status(ask()) == 200

    def silent(*_args: object, **_named: object) -> None:
        relay.fall_silent()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    with monkeypatch.context() as during:
        during.setattr("scopes.asking.allowlist_for", silent)
        asked = ask()
    relay.go_on()
    assert asked is not None, "The thread was never given back."
    answer, took = asked
    assert answer.json()["status"] in {"timeout", "unavailable"}
    assert took < DEADLINE_MS / 1000 + 1
    assert answered_after(ask, within_s=30) < 10


@pytest.mark.parametrize("address", ["/readyz", "/internal/voice/v1/ready"])
def test_whoever_asks_whether_a_server_with_a_silent_database_is_ready_is_told_soon(
    relay, voice, elsewhere, address
):
    elsewhere(lambda: connection.ensure_connection())
    relay.fall_silent()
    asked = elsewhere(lambda: voice.client.get(address))
    relay.go_on()
    assert status(asked) == 503
    assert asked[1] < 6


def test_whether_a_kept_connection_still_answers_is_known_soon(relay, elsewhere):
    elsewhere(lambda: connection.ensure_connection())
    relay.fall_silent()
    asked = elsewhere(lambda: connection.is_usable())
    relay.go_on()
    assert asked is not None, "The thread was never given back."
    assert asked[0] is False


def test_work_does_not_wait_for_ever_for_a_lease_that_cannot_be_renewed(
    here, relay, elsewhere, monkeypatch
):
    monkeypatch.setattr(leases, "HEARTBEAT_S", 0.05)
    begun = threading.Event()

    def note(claims):
        begun.set()
        return held(claims)

    monkeypatch.setattr(leases, "held", note)
    claims = [
        leases.Claim(here.acme.organization.pk, "knowledge", uuid4(), 1, None, 1, "", uuid4())
    ]

    def work() -> bool:
        with leases.kept_up(claims, timezone.now):
            assert begun.wait(10)
            relay.fall_silent()
            time.sleep(0.2)
        return True

    asked = elsewhere(work)
    relay.go_on()
    assert asked is not None, "The thread was never given back."


def set_for_the_role(value: str) -> None:
    """What a server that was a standby all along, or has become one, says of itself."""
    name = connection.settings_dict["NAME"]
    with psycopg.connect(
        ensure_running("test").url(SUPERUSER, "postgres"), autocommit=True
    ) as there:
        there.execute(
            SQL(
                "ALTER ROLE earmark_app IN DATABASE {} SET default_transaction_read_only = {}"
            ).format(Identifier(name), SQL(value))
        )


@pytest.fixture
def read_only(session) -> Iterator[None]:
    """Every connection that is made from now on leads to a server that takes no writes."""
    connections.close_all()
    set_for_the_role("on")
    yield
    set_for_the_role("off")


@pytest.fixture
def now_read_only(session) -> Iterator[Any]:
    """The server behind the connection that is open takes no writes from now on."""
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    yield connection.connection
    connection.close()


def test_a_connection_that_leads_to_a_read_only_server_is_not_made(voice, read_only, ask):
    assert status(ask()) == 503
    assert voice.client.get("/readyz").status_code == 503
    assert voice.client.get("/internal/voice/v1/ready").json()["error"]["fields"].keys() == {
        "database"
    }
    set_for_the_role("off")
    assert status(ask()) == 200
    assert voice.client.get("/readyz").status_code == 200


@pytest.mark.parametrize("address", ["/readyz", "/internal/voice/v1/ready"])
def test_a_server_that_takes_no_writes_any_more_is_not_ready(voice, now_read_only, address):
    assert voice.client.get(address).status_code == 503
    assert now_read_only.closed


def test_a_search_on_a_server_that_takes_no_writes_any_more_is_unavailable_once(
    here, voice, session, now_read_only, monkeypatch
):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)
    answer = voice.search(here.receptionist, session, HOURS)
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
    assert now_read_only.closed
    close_old_connections()
    assert voice.search(here.receptionist, session, HOURS).json()["status"] == "ok"


def test_a_session_cannot_be_opened_on_a_server_that_takes_no_writes_any_more(
    here, voice, now_read_only
):
    answer = voice.open(here.receptionist)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "database_away")
    close_old_connections()
    assert voice.open(here.receptionist).status_code == 201


REFUSED = "DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'feature_not_supported'; END $$"


def test_what_a_standby_cannot_do_says_that_the_database_is_away(now_read_only, monkeypatch):
    monkeypatch.setattr(BoundedConnection, "_is_in_recovery", lambda _self: True)
    with pytest.raises(OperationalError), connection.cursor() as cursor:
        cursor.execute(REFUSED)
    assert now_read_only.closed


def test_what_no_server_can_do_is_a_fault_of_ours(now_read_only):
    with pytest.raises(NotSupportedError), connection.cursor() as cursor:
        cursor.execute(REFUSED)
    assert not now_read_only.closed
