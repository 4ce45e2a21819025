"""Make the published examples out of real requests, with what varies replaced by what does not."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

from knowledge.embedding.spaces import ensure_space
from knowledge.errors import EmbeddingUnavailable
from knowledge.passages import CHUNKER_VERSION
from tests.embedders import CountingEmbedder
from tests.voice import BASE, Runtime, exhaust, names, runtime
from tests.world import World, world

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
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

    def asked(self, path: str) -> dict[str, Any]:
        return self._told("GET", path, None, {}, self.voice.get(path))

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
    yield from _refusals(t, receptionist, search)


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


def _refusals(t: Telling, who: dict[str, str], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    misspelt = {"queries": [HOURS], "turn_context": {"utterence": "And on Sundays?"}}
    yield "refused_invalid_request", t.told(path, who | misspelt)
    yield "refused_malformed_body", t.told(path, b'{"queries": [')
    yield "refused_key_refused", t.told(path, who, Authorization="Bearer unknown.key")
    yield "refused_contract_missing", t.told(path, who, **{"X-Earmark-Contract": None})
    yield "refused_contract_mismatch", t.told(path, who, **{"X-Earmark-Contract": "2"})
    yield "refused_not_found", t.told("/sessions/no-such-session/renew", who)
    exhaust("session", path.split("/")[2])
    yield "refused_rate_limited", t.told(path, who | {"queries": [HOURS]})
    other = {"Content-Type": "text/plain"}
    yield "refused_media_type_refused", t.told(path, who, **other)


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
