"""Malformed bodies to every address that takes one, through the whole application: refused, never a fault.

Middleware, routes, doors and database are the real ones; only the socket is missing. What is refused
stays in the test's transaction, what is accepted is taken back: so that one comparison at the end shows
that no refused body left anything behind.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, transaction
from django.test import Client

from config.handling import Application
from tenants.isolation import organization_context
from tenants.keys import signing_secret
from tests.damaging import Sent, damaged
from tests.embedders import CountingEmbedder
from tests.rest_world import BASE, DOCUMENT, Office, offices, operations
from tests.voice import BASE as VOICE
from tests.voice import give_the_test_its_time_back, runtime

pytestmark = pytest.mark.django_db
SEED = 20260302
HUNDRED_THOUSAND = pytest.param(
    100_000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)], id="100000"
)
MEBIBYTE = 1024 * 1024
MOST_GROWTH = 64 * MEBIBYTE
LONGEST_REFUSAL = 8_000
CODES = frozenset(
    re.findall(
        r"^\| `(\w+)` \|", (settings.BASE_DIR / "docs" / "errors.md").read_text("utf-8"), re.M
    )
)
# The tables that count what callers may still ask: a refused request is paid for too.
COUNTING = frozenset({"voiceapi_allowance"})
VOICE_DOCUMENT = json.loads(
    (settings.BASE_DIR / "contracts" / "voice-v1" / "openapi.json").read_text("utf-8")
)


@dataclass(frozen=True)
class Address:
    """Where a body goes: a valid one, the headers it needs, and the statuses that the document names."""

    name: str
    method: str
    path: str
    headers: dict[str, str]
    valid: dict[str, Any]
    statuses: frozenset[int]
    signed_for: str = ""


@dataclass
class Tally:
    """What was sent and answered, and what was wrong with the answers."""

    statuses: Counter[int] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    addresses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def bodies(self) -> int:
        return self.statuses.total()


class Forgetful(CountingEmbedder):
    """Remembers nothing of what it was asked, so that memory shows what the product keeps."""

    def embed_passages(self, texts, *, deadline_s):
        vectors = super().embed_passages(texts, deadline_s=deadline_s)
        self.asked.clear()
        self.calls.clear()
        return vectors


@pytest.fixture
def acme(monkeypatch, settings) -> Office:
    settings.VOICE_RATES = dict.fromkeys(settings.VOICE_RATES, 0)
    made = Forgetful()
    for module in ("scopes.asking", "voiceapi.readiness"):
        monkeypatch.setattr(f"{module}.current_embedder", lambda: made)
    return offices()[0]


@pytest.fixture
def quiet() -> Iterator[None]:
    """Log nothing below errors: a line for each request would fill the test's memory."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


ITEM = {
    "external_id": "new-1", "title": "The heron", "body": "The heron stands in the pond.", "language": "en",
    "visibility": "public", "channels": ["phone"], "segments": ["pelican-gold"], "jurisdictions": ["AE"],
    "agents": None, "valid_from": "2026-01-01T00:00:00Z", "valid_until": None, "folder": "birds/tall",
    "url": "https://help.example/heron", "review_status": "approved", "metadata": {"a": [1, {"b": None}]},
}  # fmt: skip
INSTRUCTION = {
    "external_id": "new-1", "title": "Herons", "body": "Be patient.", "status": "draft", "directory": "calls",
    "channels": None, "valid_until": "2030-01-01T00:00:00+04:00",
}  # fmt: skip
ANSWER = {
    "question": "Where is the heron?", "answer": "The heron is in the pond.", "language": "en",
    "paraphrases": ["Heron place"], "folder": "birds", "visibility": "public", "agents": ["pelican-desk"],
    "segments": None, "channels": [], "jurisdictions": ["AE"], "valid_from": None, "valid_until": None,
}  # fmt: skip
REASON = {"reason": "It is right."}
SCHEDULE = {
    "kind": "site",
    "config": {"start": "https://a.example/"},
    "every_minutes": 5,
    "is_active": False,
}
MARKDOWN = "---\nexternal_id: new-2\ntitle: Herons\n---\nBe patient.\n"


def valid_bodies(acme: Office) -> dict[str, dict[str, Any]]:
    """Return a valid body of every operation, as full as its shape allows."""
    here = {"organization": "acme"}
    folder = here | {"folder": "help/pelican/birds"}
    seen = {"id": acme.ids["items"], "version": 1}
    return {
        "scope_root_replace": {"items": [acme.ids["items"]], "folders": ["help/pelican"]},
        "directories_make": here | {"path": "calls/long"},
        "directories_rename": {"name": "Shouts"},
        "folders_delete": folder | {"expected": 3},
        "folders_lift": folder | {"expected": 3},
        "folders_move": folder | {"to": "help/herons"},
        "golden_answers_begin": here | ANSWER | {"kind": "answer"},
        "golden_answers_save_draft": ANSWER,
        "golden_answers_care": REASON | {"owner": "chief-of-acme", "review_days": 30},
        "golden_answers_roll_back": REASON | {"version": 1},
        **{f"golden_answers_{verb}": REASON for verb in (
            "request", "approve", "reject", "override", "archive", "restore", "verify")},
        "instructions_push": here | INSTRUCTION,
        "instructions_bulk": here | {"rows": [INSTRUCTION, {"external_id": "x"}]},
        "instructions_import": here | {"files": [{"path": "a.md", "text": MARKDOWN}]},
        "instructions_change": {n: v for n, v in INSTRUCTION.items() if n != "external_id"},
        "items_push": here | ITEM | {"source": "help"},
        "items_bulk": here | {"source": "help", "rows": [ITEM, {"external_id": "x"}]},
        "items_change": {n: v for n, v in ITEM.items() if n != "external_id"},
        "jobs_start": here | {"action": "move", "items": [seen], "target": "help/herons"},
        "sources_make": here | {"slug": "more", "name": "More"},
        "sources_rename": {"name": "Less"},
        "schedule_make": SCHEDULE,
        "schedule_change": SCHEDULE,
    }  # fmt: skip


def rest_addresses(acme: Office) -> Iterator[Address]:
    bodies = valid_bodies(acme)
    for path, method, operation in operations():
        if "requestBody" not in operation:
            continue
        name = operation["operationId"]
        address = acme.address(path)
        headers = {"Authorization": f"Bearer {acme.caller.token}"}
        if any(
            one["name"] == "If-Match" and one.get("required") for one in operation["parameters"]
        ):
            headers["If-Match"] = acme.tag(address)
        yield Address(
            name, method.upper(), address, headers, bodies[name],
            frozenset(map(int, operation["responses"])),
        )  # fmt: skip


def browser_addresses(acme: Office) -> Iterator[Address]:
    """The same from a browser that is signed in, with the CSRF token and without."""
    client = Client()
    client.force_login(acme.person)
    secret = "a" * 32
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    cookie = f"{settings.SESSION_COOKIE_NAME}={session}; csrftoken={secret}"
    for one in rest_addresses(acme):
        kept = {name: value for name, value in one.headers.items() if name != "Authorization"}
        for more in ({"X-CSRFToken": secret}, {}):
            headers = {**kept, "Cookie": cookie, **more}
            yield Address(one.name, one.method, one.path, headers, one.valid, one.statuses)


def voice_addresses(acme: Office) -> Iterator[Address]:
    voice = runtime(acme.of.organization)
    who = {"organization": "acme", "agent": "pelican-desk"}
    session = voice.post("/sessions", who).json()["session"]
    call = {"id": "c-1", "channel": "phone", "country": "AE", "language": "ar", "x": [1]}
    bodies: dict[str, dict[str, Any]] = {
        "open_session": who | {
            "call": call, "contact": {"external_id": "crm-77"}, "additions": ["At the airport."],
            "dynamic_instructions": [acme.ids["instructions"]],
        },
        "renew_session": who,
        "end_session": who | {"adopted": ["a"]},
        "search_knowledge": who | {
            "queries": ["كيف أسترجع المبلغ", "pelican"], "pinned": ["a"], "follows": "b", "limit": 5,
            "speculative": True, "adopted": [],
            "turn_context": {"utterance": "…", "structured_value_digits": 10, "call": {"country": "AE"}},
        },
    }  # fmt: skip
    headers = {"Authorization": f"Bearer {voice.token}", "X-Earmark-Contract": "1"}
    for path, methods in VOICE_DOCUMENT["paths"].items():
        operation = methods.get("post")
        if operation is not None:
            name = operation["operationId"]
            yield Address(
                name, "POST", path.replace("{session}", session), headers, bodies[name],
                frozenset(map(int, operation["responses"])),
            )  # fmt: skip
    yield from _peers(voice.token)


def _peers(token: str) -> Iterator[Address]:
    """Other products' doors, whose refusals have the shapes of those products."""
    kid = token.partition(".")[0]
    statuses = frozenset({200, 400, 401, 403, 404, 405, 413, 415})
    dify = {
        "knowledge_id": "acme/pelican-desk", "query": "pelican", "metadata_condition": None,
        "retrieval_setting": {"top_k": 3, "score_threshold": 0.5},
    }  # fmt: skip
    bearer = {"Authorization": f"Bearer {token}"}
    yield Address("dify", "POST", "/integrations/dify/retrieval", bearer, dify, statuses)
    vapi = {
        "message": {
            "type": "knowledge-base-request", "call": {"id": "c-1", "customer": {"externalId": "crm-77"}},
            "messages": [{"role": "user", "content": "pelican"}],
        }
    }  # fmt: skip
    path = f"/integrations/vapi/{kid}/acme/pelican-desk"
    yield Address("vapi", "POST", path, {}, vapi, statuses, signed_for=kid)


def sent_to(application: Application, to: Address, sent: Sent) -> tuple[int, str, bytes]:
    """Call the application as a web server does; return status, kind and body of the answer."""
    told: list[Any] = []
    environ = _environ(to, sent)

    def begin(status: str, headers: Any, _error: Any = None) -> Callable[[bytes], object]:
        told.extend([status, headers])
        return lambda _part: None

    answer: Any = application(environ, begin)
    content = b"".join(answer)
    answer.close()
    kinds = [value for name, value in told[1] if name.lower() == "content-type"]
    return int(told[0].split()[0]), kinds[0] if kinds else "", content


def trying() -> Any:
    """Return a block that can be taken back, inside of which verbs may still begin one of their own."""
    block: Any = transaction.atomic()
    block._from_testcase = True
    return block


@contextmanager
def the_connection_kept() -> Iterator[None]:
    """Keep the test's transaction open: Django closes one that a request finds already begun.

    Every statement after that would be answered 503, and no body would be looked at any more.
    """
    told = (request_started, request_finished)
    for signal in told:
        signal.disconnect(close_old_connections)
    yield
    for signal in told:
        signal.connect(close_old_connections)


def _environ(to: Address, sent: Sent) -> dict[str, Any]:
    headers = dict(to.headers)
    if to.signed_for:
        secret = signing_secret(to.signed_for).encode()
        headers["X-Vapi-Signature"] = (
            "sha256=" + hmac.new(secret, sent.body, hashlib.sha256).hexdigest()
        )
    environ: dict[str, Any] = {
        "REQUEST_METHOD": to.method, "PATH_INFO": to.path, "QUERY_STRING": "", "SCRIPT_NAME": "",
        "SERVER_NAME": "testserver", "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1", "wsgi.version": (1, 0), "wsgi.url_scheme": "http",
        "wsgi.input": sent.stream(), "wsgi.errors": None, "wsgi.multithread": True,
        "wsgi.multiprocess": True, "wsgi.run_once": False,
        **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()},
    }  # fmt: skip
    said = {"CONTENT_TYPE": sent.media, "CONTENT_LENGTH": sent.said_length}
    environ |= {name: value for name, value in said.items() if value is not None}
    if sent.chunked:
        environ["HTTP_TRANSFER_ENCODING"] = "chunked"
    return environ


def complaint(to: Address, status: int, kind: str, content: bytes) -> str:
    """Return what is wrong with an answer to a malformed body; nothing for what the contract says."""
    if status not in to.statuses or status >= 500:
        return "no status of the document"
    if kind != "application/json":
        return f"answered as {kind}"
    body = json.loads(content)
    if status < 400 or to.path.startswith("/integrations/"):
        return ""
    error = body.get("error", {})
    if body.keys() != {"error"} or error.keys() - {"sides"} != {"code", "message", "fields"}:
        return "not the envelope"
    if error["code"] not in CODES:
        return "a code that no page lists"
    return "" if "sides" in error or len(content) < LONGEST_REFUSAL else "a refusal without bound"


def attack(
    application: Application, addresses: list[Address], chance: random.Random, tally: Tally
) -> None:
    """Send one damaged body, and take back what is accepted."""
    to = chance.choice(addresses)
    way, sent = damaged(chance, to.valid)
    with trying():
        status, kind, content = sent_to(application, to, sent)
        if status < 400:
            connection.check_constraints()
            transaction.set_rollback(True)
    give_the_test_its_time_back()
    tally.statuses[status] += 1
    tally.ways[way] += 1
    tally.addresses[to.name] += 1
    found = complaint(to, status, kind, content)
    if found:
        said = f"{sent.media!r} {sent.said_length!r} {sent.body[:300]!r}"
        tally.wrong.append(f"{way} to {to.name}: {status}, {found}: {said} -> {content[:300]!r}")


def rows_of(acme: Office) -> dict[str, tuple[int, int]]:
    """Return number and hash of the rows of every table, as acme and its rival see them together."""
    with organization_context(*acme.everybody), connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        names = [name for (name,) in cursor.fetchall() if name not in COUNTING]
        told = {}
        for name in names:
            cursor.execute(
                f'SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)), 0) FROM "{name}" t'
            )
            told[name] = cursor.fetchone()
    return told


def resident() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


@pytest.mark.parametrize("bodies", [pytest.param(1_000, id="1000"), HUNDRED_THOUSAND])
def test_no_malformed_body_is_a_fault_or_leaves_anything_behind(acme, quiet, capsys, bodies):
    application, chance, tally = Application(), random.Random(SEED), Tally()
    voice, rest = list(voice_addresses(acme)), list(rest_addresses(acme))
    browser = list(browser_addresses(acme))
    before, started, grown_from = rows_of(acme), time.monotonic(), 0
    with the_connection_kept():
        for number in range(bodies):
            if number == bodies // 5:
                grown_from = resident()
            # As many to the voice API as to all the rest.
            group = voice if number % 2 else browser if number % 10 == 0 else rest
            attack(application, group, chance, tally)
    growth = resident() - grown_from
    with capsys.disabled():
        sys.stdout.write(
            f"\n{tally.bodies} malformed bodies in {time.monotonic() - started:.0f} s, damaged in"
            f" {len(tally.ways)} ways, to {len(tally.addresses)} addresses; memory grew by"
            f" {growth // MEBIBYTE} MiB; {dict(sorted(tally.statuses.items()))}\n"
        )
    assert tally.wrong == []
    assert rows_of(acme) == before
    assert growth < MOST_GROWTH
    assert tally.statuses[200] + tally.statuses[201] + tally.statuses[202] < tally.bodies / 2
    assert len(tally.addresses) == len({one.name for one in [*voice, *rest]})


def test_every_operation_that_takes_a_body_is_among_them(acme):
    named = {one["operationId"] for _path, _method, one in operations() if "requestBody" in one}
    assert set(valid_bodies(acme)) == named
    assert DOCUMENT["paths"].keys() >= {BASE + "items", BASE + "jobs"}
    assert VOICE_DOCUMENT["paths"].keys() >= {f"{VOICE}/sessions"}


def test_what_is_damaged_was_valid_before(acme, quiet):
    """A body that is refused whatever is done to it would show nothing."""
    application = Application()
    refused = {}
    for to in [*voice_addresses(acme), *rest_addresses(acme)]:
        with the_connection_kept(), trying():
            status, _kind, content = sent_to(application, to, Sent(json.dumps(to.valid).encode()))
            transaction.set_rollback(True)
        if status >= 400:
            refused[to.name] = (status, json.loads(content)["error"]["code"])
    assert refused == STATE_DECIDES


# Right in every field; what there is decides.
STATE_DECIDES = {
    "golden_answers_approve": (409, "request_not_open"),
    "golden_answers_override": (409, "no_draft"),
    "golden_answers_reject": (409, "request_not_open"),
    "golden_answers_request": (409, "no_draft"),
    "golden_answers_restore": (409, "answer_not_archived"),
    "golden_answers_roll_back": (409, "version_never_published"),
    "schedule_make": (409, "name_taken"),
}
