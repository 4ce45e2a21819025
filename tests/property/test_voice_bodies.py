"""Whatever is sent, the voice API answers in its own words and never with a mistake of its own."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.embedders import CountingEmbedder
from tests.voice import names, runtime
from tests.world import world

pytestmark = pytest.mark.django_db
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4)
)
FIELDS = [
    "organization", "agent", "call", "contact", "dynamic_instructions", "additions", "queries",
    "turn_context", "follows", "pinned", "speculative", "adopted", "limit",
]  # fmt: skip
OBJECTS = st.dictionaries(st.sampled_from(FIELDS) | ANY_TEXT, VALUES, max_size=6)
PATHS = ["/sessions", "/sessions/{}/renew", "/sessions/{}/tools/knowledge-search", "/nowhere"]
STATUSES = {200, 201, 400, 404, 405, 413, 415}
relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here, monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)
    return runtime(here.acme.organization)


@pytest.fixture
def session(here, voice):
    return voice.session(here.receptionist)


def told(answer):
    assert answer.status_code in STATUSES, answer.content
    assert json.loads(answer.content)
    return answer


@relaxed
@given(path=st.sampled_from(PATHS), body=OBJECTS)
def test_any_object(voice, session, path, body):
    told(voice.post(path.format(session), json.dumps(body).encode()))


@relaxed
@given(path=st.sampled_from(PATHS), body=OBJECTS)
def test_any_object_that_names_its_agent(here, voice, session, path, body):
    sent = {"queries": ["pelican"]} | body | names(here.receptionist)
    told(voice.post(path.format(session), json.dumps(sent).encode()))


@relaxed
@given(path=st.sampled_from(PATHS), raw=st.binary(max_size=200))
@example(path="/sessions", raw=b'{"a":' * 100_000)
@example(path="/sessions", raw=b"[" * 200_000)
@example(path="/sessions", raw=b'{"organization": "\\u0000"}')
@example(path="/sessions", raw=b"9" * 100_000)
def test_any_bytes(voice, session, path, raw):
    told(voice.post(path.format(session), raw))


@relaxed
@given(session=ANY_TEXT.filter(lambda text: "/" not in text and text not in (".", "..")))
def test_any_session(here, voice, session):
    try:
        path = f"/sessions/{session}/renew"
        path.encode()
    except UnicodeEncodeError:
        return
    told(voice.post(path, names(here.receptionist)))


@relaxed
@given(queries=st.lists(ANY_TEXT, min_size=1, max_size=4), limit=st.integers(1, 10))
def test_any_question(here, voice, session, queries, limit):
    told(voice.search(here.receptionist, session, *queries, limit=limit))


@relaxed
@given(header=st.text(st.characters(max_codepoint=0xFF), max_size=20))
def test_any_header(here, voice, session, header):
    for name in ("Authorization", "X-Earmark-Contract", "X-Deadline-Ms"):
        answer = voice.search(here.receptionist, session, "pelican", **{name: header})
        assert answer.status_code in STATUSES | {401, 409, 504}
