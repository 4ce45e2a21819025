"""Make the published examples out of real requests, with what varies replaced by what does not."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.db import OperationalError

from golden import drafting, publishing
from golden.acting import Act
from golden.content import Content
from knowledge.embedding.spaces import ensure_space
from knowledge.errors import EmbeddingUnavailable
from knowledge.indexing.writing import Gates
from knowledge.passages import CHUNKER_VERSION
from tenants.strict_json import MOST_BYTES
from tests.embedders import CountingEmbedder
from tests.voice import BASE, Runtime, exhaust, names, runtime
from tests.world import AT, BY, World, world
from voiceapi.admission import _places

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# A year that begins with 21 was written down as it is; the others vary with the day.
INSTANT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
HASH = re.compile(r"sha256:[0-9a-f]{64}")
HOURS = "When does the pelican lounge open?"
CONTACT = {"external_id": "crm-77"}


class Telling:
    """Tells requests and answers; the same id is the same placeholder within one example."""

    def __init__(self, embedder: CountingEmbedder) -> None:
        self.embedder = embedder
        ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
        self.here: World = world()
        self.voice: Runtime = runtime(self.here.acme.organization)

    def told(self, path: str, body: Any, **headers: str | None) -> dict[str, Any]:
        answer = self.voice.post(path, body, **headers)
        return self._told("POST", path, body, headers, answer)

    def asked(self, path: str, **headers: str) -> dict[str, Any]:
        return self._told("GET", path, None, headers, self.voice.get(path, **headers))

    def too_large(self, path: str) -> dict[str, Any]:
        """Send more than may be sent, and tell how much it was instead of what."""
        answer = self.voice.post(path, b" " * (MOST_BYTES + 1))
        told = {"Content-Length": str(MOST_BYTES + 1)}
        return self._told("POST", path, None, told, answer)

    def with_key(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.voice.token}", "X-Earmark-Contract": "1"}

    def _told(self, method, path, body, headers, answer) -> dict[str, Any]:
        kept = {"Retry-After", "WWW-Authenticate"} & set(answer.headers)
        request: dict[str, Any] = {"method": method, "path": BASE + path}
        if headers:
            request["headers"] = headers
        if body is not None:
            request["body"] = body.decode() if isinstance(body, bytes) else body
        response: dict[str, Any] = {"status": answer.status_code}
        if kept:
            response["headers"] = {name: answer.headers[name] for name in sorted(kept)}
        return {"request": request, "response": response | {"body": answer.json()}}


def examples(embedder: CountingEmbedder) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and example, one of every answer that the contract knows."""
    telling = Telling(embedder)
    for name, example in _all(telling):
        yield name, _steady(example)


def _all(t: Telling) -> Iterator[tuple[str, dict[str, Any]]]:
    receptionist, apprentice = names(t.here.receptionist), names(t.here.apprentice)
    yield "contract", t.asked("/contract")
    yield "ready", t.asked("/ready?version=1")
    yield "not_ready", t.asked("/ready?version=2")
    refunds = t.here.acme.instruction("Refunds", "Ask for the receipt first.", status="published")
    t.here.acme.contact("crm-77")
    call = {"id": "c-1", "channel": "phone", "country": "AE", "language": "ar"}
    opening: dict[str, Any] = receptionist | {"call": call, "contact": CONTACT}
    opening |= {
        "dynamic_instructions": [str(refunds)],
        "additions": ["The caller is calling from the airport branch."],
    }
    yield "session_opened", t.told("/sessions", opening)
    session = t.voice.session(t.here.receptionist)
    search = f"/sessions/{session}/tools/knowledge-search"
    yield "session_renewed", t.told(f"/sessions/{session}/renew", receptionist)
    yield from _searches(t, receptionist, search)
    empty = t.voice.session(t.here.apprentice)
    yield (
        "search_restricted_empty",
        t.told(f"/sessions/{empty}/tools/knowledge-search", apprentice | {"queries": [HOURS]}),
    )
    yield "session_ended", t.told(f"/sessions/{empty}/end", apprentice | {"adopted": []})
    yield from _refusals(t, receptionist, session)


def _searches(t: Telling, who: dict[str, str], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    first = t.told(path, who | {"queries": [HOURS], "speculative": True})
    yield "search_ok", first
    heard = first["response"]["body"]
    following = {
        "turn_context": {"utterance": "And on Sundays?", "call": {"country": "AE"}},
        "follows": heard["search"],
        "pinned": [heard["results"][0]["id"]],
        "adopted": [heard["search"]],
        "limit": 3,
    }
    yield "search_every_type", _every_type(t)
    yield "search_no_match", t.told(path, who | {"queries": ["zebra crossings"]} | following)
    t.embedder.before = _fail
    yield "search_degraded", t.told(path, who | {"queries": [HOURS]})
    yield "search_unavailable", t.told(path, who | {"queries": ["zebra crossings"]})
    t.embedder.before = lambda _texts: time.sleep(1.4)
    late = {"X-Deadline-Ms": "1800"}
    yield "search_timeout", t.told(path, who | {"queries": ["zebra stripes"]}, **late)
    t.embedder.before = lambda _texts: None


def _fail(_texts: Any) -> None:
    raise EmbeddingUnavailable


def _every_type(t: Telling) -> dict[str, Any]:
    """Search as an agent who may hear a golden answer, an instruction and an item with an address."""
    concierge = t.here.acme.agent("concierge")
    t.here.acme.instruction(
        "Lost tickets", "For a lost ticket ask for the booking number first.", status="published"
    )
    t.here.acme.item(
        "Parking",
        "The parrot garage has ninety places.",
        url="https://acme.example/parking",
        gates=Gates(valid_until=datetime(2100, 1, 1, tzinfo=UTC)),
    )
    _publish(t, Content(question="Where is the toucan desk?", answer="It is on the second floor."))
    path = f"/sessions/{t.voice.session(concierge)}/tools/knowledge-search"
    queries = ["Where is the toucan desk?", "lost ticket booking number", "parrot garage places"]
    return t.told(path, names(concierge) | {"queries": queries})


def _publish(t: Telling, content: Content) -> None:
    organization, act = t.here.acme.organization, Act(BY, AT, "Checked by hand.")
    answer = drafting.create_answer(organization, content, act)
    publishing.override_publish(organization.pk, answer.pk, act)


def _refusals(
    t: Telling, who: dict[str, str], session: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    path = f"/sessions/{session}/tools/knowledge-search"
    yield "refused_malformed_body", t.told(path, b'{"queries": [')
    yield "refused_contract_missing", t.told(path, who, **{"X-Earmark-Contract": None})
    misspelt = {"queries": [HOURS], "turn_context": {"utterence": "And on Sundays?"}}
    yield "refused_invalid_request", t.told(path, who | misspelt)
    yield from _of_one(t, "", path, who | {"queries": [HOURS]})
    exhaust("session", session)
    yield "refused_rate_limited", t.told(path, who | {"queries": [HOURS]})
    operations = {
        "open": "/sessions",
        "renew": f"/sessions/{session}/renew",
        "end": f"/sessions/{session}/end",
    }
    for name, path in operations.items():
        yield f"refused_{name}_invalid_request", t.told(path, who | {"limit": 5})
        yield f"refused_{name}_deadline_passed", t.told(path, who, **{"X-Deadline-Ms": "0"})
        yield from _of_one(t, f"{name}_", path, who)
    exhaust("key", t.voice.token.partition(".")[0])
    for name in ("open", "renew"):
        yield f"refused_{name}_rate_limited", t.told(operations[name], who)
    with failing(ZeroDivisionError):
        yield "refused_contract_server_fault", t.asked("/contract")
        yield "refused_ready_server_fault", t.asked("/ready")


def _of_one(
    t: Telling, name: str, path: str, body: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what every address for holders of a key may refuse."""
    wrong = {"Authorization": "Bearer unknown.key"}
    yield f"refused_{name}key_refused", t.told(path, body, **wrong)
    yield f"refused_{name}contract_mismatch", t.told(path, body, **{"X-Earmark-Contract": "2"})
    missing = t.told(path, body | {"agent": "nobody"})
    yield f"refused_{name}not_found", missing
    yield f"refused_{name}method_refused", _hidden(t.asked(path, **t.with_key()))
    yield f"refused_{name}length_missing", t.told(path, body, **{"Transfer-Encoding": "chunked"})
    yield f"refused_{name}body_too_large", t.too_large(path)
    other = {"Content-Type": "text/plain"}
    yield f"refused_{name}media_type_refused", t.told(path, body, **other)
    with no_place_left():
        yield f"refused_{name}overloaded", t.told(path, body)
    with failing(OperationalError):
        yield f"refused_{name}database_away", t.told(path, body)
    with failing(ZeroDivisionError):
        yield f"refused_{name}server_fault", t.told(path, body)


def _hidden(example: dict[str, Any]) -> dict[str, Any]:
    """Leave out the key that was sent with the others' headers."""
    example["request"].pop("headers")
    return example


@contextmanager
def no_place_left() -> Iterator[None]:
    """Take every place of the process."""
    places = _places()
    for _ in range(settings.VOICE_CONCURRENCY):
        assert places.acquire(blocking=False)
    try:
        yield
    finally:
        places.release(settings.VOICE_CONCURRENCY)


def failing(kind: type[Exception]) -> AbstractContextManager[Any]:
    """Let whatever an address asks first fail."""
    stack = ExitStack()
    for name in ("find_agent", "find_session", "search", "summary", "require_ready"):
        stack.enter_context(patch(f"voiceapi.views.{name}", side_effect=kind))
    return stack


def _steady(example: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(example, ensure_ascii=False)
    seen: dict[str, str] = {}
    for found in UUID.findall(text):
        seen.setdefault(found, f"00000000-0000-4000-8000-{len(seen) + 1:012}")
    text = UUID.sub(lambda match: seen[match[0]], text)
    text = INSTANT.sub("2026-03-02T09:30:00Z", text)
    text = HASH.sub("sha256:" + "0" * 64, text)
    steady: dict[str, Any] = json.loads(text)
    return steady
