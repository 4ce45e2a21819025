"""What the voice API refuses, in which order, and how it says so."""

from __future__ import annotations

import json
import logging
import uuid

import pytest
from django import db

from tests.embedders import CountingEmbedder
from tests.voice import names, runtime
from tests.world import world

pytestmark = pytest.mark.django_db
SESSION = f"/sessions/{uuid.UUID(int=7)}"
SEARCH = f"{SESSION}/tools/knowledge-search"
WRONG = object()


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


def told(answer):
    return answer.status_code, answer.json()["error"]["code"]


def fields(answer):
    assert told(answer) == (400, "invalid_request"), answer.content
    return answer.json()["error"]["fields"]


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer nobody.nothing",
     "Bearer ключ.секрет", "Bearer é.é", "Token x.y", "bearer \udcff"],
)  # fmt: skip
def test_without_a_key_every_address_says_the_same(here, voice, authorization):
    bodies = {
        voice.post(path, {}, Authorization=authorization).content
        for path in ("/sessions", SEARCH, f"{SESSION}/renew", f"{SESSION}/end", "/nowhere")
    }
    assert bodies == {
        b'{"error":{"code":"key_refused","message":"The service key is not accepted.","fields":{}}}'
    }
    answer = voice.post("/sessions", {}, Authorization=authorization)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (
        401, 'Bearer realm="earmark"',
    )  # fmt: skip


def test_the_key_is_asked_for_before_anything_else(voice):
    wrong = {"Authorization": "Bearer a.b", "X-Earmark-Contract": "9", "Content-Type": "text/xml"}
    assert told(voice.post("/sessions", b"[", **wrong)) == (401, "key_refused")


def test_the_contract_is_asked_for_before_the_body(voice):
    assert told(voice.post("/sessions", b"[", **{"X-Earmark-Contract": None})) == (
        400, "contract_missing",
    )  # fmt: skip
    mismatch = voice.post("/sessions", b"[", **{"X-Earmark-Contract": "2"})
    assert told(mismatch) == (409, "contract_mismatch")
    assert mismatch.json()["error"]["fields"] == {"served": ["1"]}


def test_the_body_is_looked_at_before_what_exists(here, voice):
    foreign = {"organization": "globex", "agent": "rival", "queries": []}
    assert "queries" in fields(voice.post(SEARCH, foreign))


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("/sessions", {"agnt": "x"}, {"agnt", "agent", "organization"}),
        ("/sessions", {"contact": {"external_id": "a", "name": "b"}}, {"contact.name"}),
        ("/sessions", {"contact": "crm-77"}, {"contact"}),
        ("/sessions", {"call": {"country": "Arabia"}}, {"call.country"}),
        ("/sessions", {"call": {"channel": 7}}, {"call.channel"}),
        ("/sessions", {"call": []}, {"call"}),
        ("/sessions", {"additions": "text"}, {"additions"}),
        ("/sessions", {"additions": ["x" * 2001]}, {"additions.0"}),
        ("/sessions", {"dynamic_instructions": [7]}, {"dynamic_instructions.0"}),
        (SEARCH, {}, {"queries"}),
        (SEARCH, {"queries": "pelican"}, {"queries"}),
        (SEARCH, {"queries": []}, {"queries"}),
        (SEARCH, {"queries": ["a"] * 5}, {"queries"}),
        (SEARCH, {"queries": ["x" * 501]}, {"queries.0"}),
        (SEARCH, {"queries": ["x" * 100_000]}, {"queries.0"}),
        (SEARCH, {"queries": ["a", " \u200b\ufeff "]}, {"queries.1"}),
        (SEARCH, {"queries": [7]}, {"queries.0"}),
        (SEARCH, {"queries": ["a"], "query": "a"}, {"query"}),
        (SEARCH, {"queries": ["a"], "limit": 0}, {"limit"}),
        (SEARCH, {"queries": ["a"], "limit": 11}, {"limit"}),
        (SEARCH, {"queries": ["a"], "limit": "5"}, {"limit"}),
        (SEARCH, {"queries": ["a"], "limit": 5.5}, {"limit"}),
        (SEARCH, {"queries": ["a"], "limit": True}, {"limit"}),
        (SEARCH, {"queries": ["a"], "limit": None}, {"limit"}),
        (SEARCH, {"queries": ["a"], "speculative": "yes"}, {"speculative"}),
        (SEARCH, {"queries": ["a"], "pinned": ["x"] * 6}, {"pinned"}),
        (SEARCH, {"queries": ["a"], "follows": 7}, {"follows"}),
        (SEARCH, {"queries": ["a"], "turn_context": {"utterence": "x"}}, {"turn_context.utterence"}),
        (SEARCH, {"queries": ["a"], "turn_context": {"utterance": "x" * 1001}},
         {"turn_context.utterance"}),
        (SEARCH, {"queries": ["a"], "turn_context": {"structured_value_digits": -1}},
         {"turn_context.structured_value_digits"}),
        (f"{SESSION}/renew", {"adopted": []}, {"adopted"}),
        (f"{SESSION}/end", {"adopted": "x"}, {"adopted"}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(here, voice, path, body, named):
    sent = body if "agnt" in body else names(here.receptionist) | body
    assert set(fields(voice.post(path, sent))) == named


def test_other_keys_inside_call_are_dropped(here, voice):
    session = voice.session(here.receptionist)
    turn = {"utterance": "Hello", "call": {"country": "AE", "sip": {"x": 1}, "trunk": None}}
    answer = voice.search(here.receptionist, session, "pelican", turn_context=turn)
    assert answer.status_code == 200


def test_null_stands_for_what_may_be_left_out(here, voice):
    session = voice.session(here.receptionist, call=None, contact=None)
    answer = voice.search(here.receptionist, session, "pelican", turn_context=None, follows=None)
    assert answer.status_code == 200


def test_a_long_text_that_normalises_to_a_short_one_is_taken(here, voice):
    session = voice.session(here.receptionist)
    answer = voice.search(here.receptionist, session, "pelican" + " " * 900 + "lounge")
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "raw",
    [b"", b"[", b"{", b"null", b"7", b'"x"', b"[]", b"\xff\xfe", b"\xef\xbb\xbf{}", b"{'a': 1}",
     b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 1e999}', b'{"a": "\\ud800"}', b'{"\\udfff": 1}',
     b'{"a": "\\u0000"}', b'{"a": ["\\u0000"]}', b'{"a": ' + b"9" * 5000 + b"}",
     b"[" * 100_000, b'{"a":' * 50_000, b'{"a": ' + b"[" * 9 + b"]" * 9 + b"}"],
)  # fmt: skip
def test_a_body_that_cannot_be_read_is_refused(voice, raw):
    answer = voice.post("/sessions", raw)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] in {"malformed_body", "invalid_request"}


def test_a_field_given_twice_is_refused_by_name(voice):
    assert fields(voice.post("/sessions", b'{"limit": 1, "limit": 5}')) == {
        "limit": ["Given more than once."]
    }


def test_names_of_unknown_fields_are_bounded(here, voice):
    sent = names(here.receptionist) | {"x" * 5000 + str(n): 1 for n in range(40)}
    answer = voice.post("/sessions", sent)
    assert len(fields(answer)) <= 20
    assert len(answer.content) < 4000


def test_a_doubled_name_that_cannot_be_written_does_no_harm(voice):
    assert voice.post("/sessions", b'{"\\ud800": 1, "\\ud800": 2}').status_code == 400


def test_a_body_that_is_too_large_is_refused(here, voice):
    sent = names(here.receptionist) | {"additions": ["x" * 300_000]}
    assert told(voice.post("/sessions", sent)) == (413, "body_too_large")


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/xml", "application/x-www-form-urlencoded", "",
     "application/json; charset=utf-16", "multipart/form-data; boundary=x"],
)  # fmt: skip
def test_only_json_is_read(here, voice, media_type):
    sent = json.dumps(names(here.receptionist)).encode()
    answer = voice.post("/sessions", sent, **{"Content-Type": media_type})
    assert told(answer) == (415, "media_type_refused")


def test_json_with_a_charset_is_read(here, voice):
    media_type = {"Content-Type": "Application/JSON; charset=UTF-8"}
    assert voice.post("/sessions", names(here.receptionist), **media_type).status_code == 201


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete", "options", "head"])
def test_other_methods_are_refused(voice, method):
    headers = {"Authorization": f"Bearer {voice.token}", "X-Earmark-Contract": "1"}
    answer = getattr(voice.client, method)("/internal/voice/v1/sessions", headers=headers)
    assert answer.status_code == 405
    if method != "head":
        assert told(answer) == (405, "method_refused")


@pytest.mark.parametrize("given", ["", "soon", "-1", "1.5", "٥٥٠٠", "9" * 40])
def test_a_deadline_is_a_number_of_milliseconds(here, voice, given):
    answer = voice.search(here.receptionist, "x", "pelican", **{"X-Deadline-Ms": given})
    assert set(fields(answer)) == {"X-Deadline-Ms"}


def test_whatever_is_accepted_the_answer_is_json(here, voice):
    answer = voice.post("/sessions", names(here.receptionist), Accept="text/html")
    assert (answer.status_code, answer.headers["Content-Type"]) == (201, "application/json")


def test_the_request_id_comes_back_in_a_header_and_nowhere_else(here, voice):
    answer = voice.post("/sessions", {}, **{"X-Request-Id": "call-7"})
    assert answer.headers["X-Request-Id"] == "call-7"
    assert b"call-7" not in answer.content


def test_a_mistake_of_ours_is_one_envelope_too(here, voice, monkeypatch):
    def fail(*_args, **_kwargs):
        raise ZeroDivisionError("pelican")

    monkeypatch.setattr("voiceapi.searching.ask", fail)
    session = voice.session(here.receptionist)
    answer = voice.search(here.receptionist, session, "pelican")
    assert told(answer) == (500, "server_fault")
    assert b"pelican" not in answer.content


def raising(kind):
    def fail(*_args, **_kwargs):
        raise kind("pelican")

    return fail


@pytest.fixture(
    params=["voiceapi.searching.find_session", "voiceapi.searching.spend", "scopes.asking.allowlist_for"]
)  # fmt: skip
def step(request):
    """Where in a search the database may fail."""
    return request.param


AWAY = [db.OperationalError, db.InterfaceError]
OURS = [db.DataError, db.IntegrityError, db.ProgrammingError, db.InternalError,
        db.NotSupportedError, db.DatabaseError, db.Error]  # fmt: skip


@pytest.mark.parametrize("kind", AWAY)
def test_a_database_that_is_away_is_no_fault_of_the_server(here, voice, monkeypatch, kind):
    monkeypatch.setattr("voiceapi.views.find_agent", raising(kind))
    answer = voice.open(here.receptionist)
    assert (told(answer), answer.headers["Retry-After"]) == ((503, "database_away"), "2")


@pytest.mark.parametrize("kind", OURS)
def test_what_the_database_rejects_is_a_fault_of_the_server(here, voice, monkeypatch, kind, caplog):
    monkeypatch.setattr("voiceapi.views.find_agent", raising(kind))
    assert told(voice.open(here.receptionist)) == (500, "server_fault")
    assert faults(caplog) == [kind]


@pytest.mark.parametrize("kind", AWAY)
def test_a_search_without_a_database_is_unavailable(here, voice, monkeypatch, kind, step):
    session = voice.session(here.receptionist)
    monkeypatch.setattr(step, raising(kind))
    answer = voice.search(here.receptionist, session, "pelican")
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")


@pytest.mark.parametrize("kind", OURS)
def test_a_search_that_the_database_rejects_is_a_fault_of_the_server(
    here, voice, monkeypatch, kind, step, caplog
):
    session = voice.session(here.receptionist)
    monkeypatch.setattr(step, raising(kind))
    answer = voice.search(here.receptionist, session, "lounge")
    assert told(answer) == (500, "server_fault")
    assert b"pelican" not in answer.content
    assert faults(caplog) == [kind]


def faults(caplog):
    """Return the exceptions that were logged as faults of the server."""
    return [
        line.exc_info[0]
        for line in caplog.records
        if (line.levelno, line.message) == (logging.ERROR, "server_fault")
    ]
