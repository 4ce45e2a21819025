"""How often a key, an organization and a session may ask."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, connections

from tests.embedders import CountingEmbedder
from tests.voice import exhaust, names, runtime
from tests.world import world
from voiceapi.errors import RateLimited
from voiceapi.limiting import KINDS, forget_idle, spend

pytestmark = pytest.mark.django_db
HOURS = "When does the pelican lounge open?"
OFF = dict.fromkeys(KINDS, 0)


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


def spent(kind, name):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM spent_until - statement_timestamp())"
            " FROM voiceapi_allowance WHERE kind = %s AND name = %s",
            [kind, name],
        )
        row = cursor.fetchone()
    return float(row[0]) if row else None


def whose(kind, here, voice, session):
    return {
        "session": session,
        "organization": str(here.acme.organization.pk),
        "key": voice.token.partition(".")[0],
    }[kind]


def passes(names):
    try:
        spend(names)
    except RateLimited:
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_asks_too_often_is_told_how_long_to_wait(here, voice, kind):
    session = voice.session(here.receptionist)
    exhaust(kind, whose(kind, here, voice, session))
    answer = voice.search(here.receptionist, session, HOURS)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 10
    error = answer.json()["error"]
    assert (error["code"], list(error["fields"])) == ("rate_limited", [kind])


def test_sessions_count_against_key_and_organization(here, voice):
    exhaust("organization", str(here.acme.organization.pk))
    assert voice.open(here.receptionist).status_code == 429


@pytest.mark.parametrize("kind", ["organization", "key"])
def test_keeping_a_session_alive_counts_too(here, voice, kind):
    session = voice.session(here.receptionist)
    assert voice.post(f"/sessions/{session}/renew", names(here.receptionist)).status_code == 200
    exhaust(kind, whose(kind, here, voice, session))
    assert voice.post(f"/sessions/{session}/renew", names(here.receptionist)).status_code == 429


@pytest.mark.parametrize("kind", KINDS)
def test_the_end_of_a_call_is_taken_however_often_somebody_asks(here, voice, kind):
    session = voice.session(here.receptionist)
    exhaust(kind, whose(kind, here, voice, session))
    assert voice.post(f"/sessions/{session}/end", names(here.receptionist)).status_code == 200


def test_one_call_that_asks_too_often_holds_up_no_other(here, voice):
    noisy, quiet = voice.session(here.receptionist), voice.session(here.receptionist)
    exhaust("session", noisy)
    assert voice.search(here.receptionist, noisy, HOURS).status_code == 429
    assert voice.search(here.receptionist, quiet, HOURS).status_code == 200


def test_what_a_session_is_refused_costs_its_organization_nothing():
    names = {"session": "s", "organization": "o", "key": "k"}
    exhaust("session", "s")
    assert not passes(names)
    assert (spent("organization", "o"), spent("key", "k")) == (None, None)


def test_organizations_are_counted_apart(here, voice):
    exhaust("organization", str(here.globex.organization.pk))
    assert voice.open(here.receptionist).status_code == 201


def test_a_quarter_of_a_minute_may_come_at_once_and_no_more(settings):
    settings.VOICE_RATES = OFF | {"key": 40}
    assert [passes({"key": "k"}) for _ in range(11)] == [True] * 10 + [False]


def test_time_pays_for_what_was_spent(settings):
    settings.VOICE_RATES = OFF | {"key": 40}
    exhaust("key", "k", ahead_s=13.6)
    assert not passes({"key": "k"})
    exhaust("key", "k", ahead_s=13.4)
    assert passes({"key": "k"})


def test_a_limit_that_is_off_counts_nothing(settings, django_assert_num_queries):
    settings.VOICE_RATES = OFF
    with django_assert_num_queries(0):
        spend({"session": "s", "organization": "o", "key": "k"})


def test_all_three_limits_cost_one_statement(django_assert_num_queries):
    with django_assert_num_queries(1):
        spend({"session": "s", "organization": "o", "key": "k"})


def test_what_was_paid_for_long_ago_is_forgotten():
    exhaust("key", "old", ahead_s=-4000)
    exhaust("key", "new")
    assert forget_idle() == 1
    assert spent("key", "new") is not None


@pytest.mark.django_db(transaction=True)
def test_requests_at_the_same_moment_are_counted_one_by_one(settings):
    settings.VOICE_RATES = OFF | {"session": 120, "organization": 120, "key": 40}
    passed: list[bool] = []

    def ask(number):
        try:
            names = {"session": f"s{number}", "organization": "at-once", "key": "at-once"}
            passed.extend(passes(names) for _ in range(5))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (passed.count(True), len(passed)) == (10, 30)
