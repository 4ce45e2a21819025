"""Not yours and not there are one answer, byte for byte, on every address."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from tests.embedders import CountingEmbedder
from tests.voice import names, runtime
from tests.world import world
from voiceapi.models import VoiceSession

pytestmark = pytest.mark.django_db
NOTHING = b'{"error":{"code":"not_found","message":"There is nothing here.","fields":{}}}'
WITH_SESSION = {
    "renew": ("/sessions/{}/renew", {}, 200),
    "end": ("/sessions/{}/end", {}, 200),
    "search": ("/sessions/{}/tools/knowledge-search", {"queries": ["pelican"]}, 200),
}
WITHOUT_SESSION: dict[str, tuple[str, dict[str, str], int]] = {"sessions": ("/sessions", {}, 201)}
OPEN = {"contract", "ready"}
FALLBACK = {"nothing"}


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


def patterns(resolver, prefix=""):
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern, route)
        elif isinstance(pattern, URLPattern):
            yield route, pattern.name


def test_every_address_below_internal_has_a_row_here():
    internal = {name for route, name in patterns(get_resolver()) if route.startswith("internal/")}
    assert internal == set(WITH_SESSION) | set(WITHOUT_SESSION) | OPEN | FALLBACK


def sessions_that_are_not_there(here, voice):
    """Yield name, the session asked for, and whom the request speaks for."""
    rival = runtime(here.globex.organization)
    mine, theirs = here.receptionist, here.rival
    yield "missing", str(uuid.uuid4()), mine
    yield "malformed", "not-an-id", mine
    yield "written differently", voice.session(mine).upper(), mine
    yield "a null byte", "%00", mine
    yield "of another organization", rival.session(theirs), mine
    yield "of another organization, named", rival.session(theirs), theirs
    yield "of another agent", voice.session(here.apprentice), mine
    yield "with another organization's agent", voice.session(mine), theirs
    yield "ended", changed(here, voice, ended_at=timezone.now()), mine
    yield "expired", changed(here, voice, expires_at=timezone.now() - timedelta(seconds=1)), mine


def changed(here, voice, **columns):
    session = voice.session(here.receptionist)
    with here.acme.context():
        VoiceSession.objects.filter(pk=session).update(**columns)
    return session


@pytest.mark.parametrize("route", WITH_SESSION)
def test_a_session_of_ones_own_is_served(here, voice, route):
    path, body, status = WITH_SESSION[route]
    session = voice.session(here.receptionist)
    answer = voice.post(path.format(session), names(here.receptionist) | body)
    assert answer.status_code == status


@pytest.mark.parametrize("route", WITH_SESSION)
def test_a_session_that_is_not_ones_own_is_not_there(here, voice, route):
    path, body, _ = WITH_SESSION[route]
    answers = {
        name: voice.post(path.format(session), names(agent) | body)
        for name, session, agent in sessions_that_are_not_there(here, voice)
    }
    assert {name: (a.status_code, a.content) for name, a in answers.items()} == dict.fromkeys(
        answers, (404, NOTHING)
    )


@pytest.mark.parametrize("route", WITH_SESSION)
def test_headers_do_not_tell_why_either(here, voice, route):
    path, body, _ = WITH_SESSION[route]
    seen = set()
    for _name, session, agent in sessions_that_are_not_there(here, voice):
        headers = dict(voice.post(path.format(session), names(agent) | body).headers)
        headers.pop("X-Request-Id")
        seen.add(tuple(sorted(headers.items())))
    assert len(seen) == 1


def test_an_agent_that_is_not_ones_own_is_not_there(here, voice):
    switched_off = here.acme.agent("switched-off")
    with here.acme.context():
        type(switched_off).objects.filter(pk=switched_off.pk).update(is_active=False)
    asked = [
        {"organization": "acme", "agent": "nobody"},
        {"organization": "nowhere", "agent": "receptionist"},
        {"organization": "globex", "agent": "rival"},
        {"organization": "acme", "agent": "rival"},
        {"organization": "ACME", "agent": "receptionist"},
        names(switched_off),
    ]
    answers = [voice.post("/sessions", body) for body in asked]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, NOTHING)}


@pytest.mark.parametrize("path", ["/nowhere", "/sessions/", "/sessions/x", "/%0a", "/%00"])
def test_an_address_that_is_not_there_says_the_same(here, voice, path):
    answer = voice.post(path, names(here.receptionist))
    assert (answer.status_code, answer.content) == (404, NOTHING)


def test_what_is_not_there_takes_the_same_statements(
    here, voice, django_assert_num_queries, monkeypatch
):
    # A machine that is slow at this moment sets a timeout anew, whatever is asked for.
    monkeypatch.setattr("knowledge.retrieval.bounding._STILL_HOLDS", 60)
    asked = list(sessions_that_are_not_there(here, voice))
    path, body, _ = WITH_SESSION["search"]
    for _name, session, agent in asked:
        with django_assert_num_queries(6):
            voice.post(path.format(session), names(agent) | body)


def test_no_answer_names_another_organizations_rows(here, voice):
    rival = runtime(here.globex.organization)
    session = rival.session(here.rival)
    answer = rival.search(here.rival, session, "When does the pelican lounge open?")
    assert answer.json()["status"] == "ok"
    assert b"ostrich" in answer.content
    assert b"pelican" not in answer.content
