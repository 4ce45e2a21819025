"""Ask for another product's runtime: the same core, with a session that nobody had to open."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from knowledge.retrieval.deadline import Deadline
from knowledge.text.normalising import normalise
from scopes.asking import Asked
from tenants.keys import KeyHolder
from tenants.models import PhoneAgent
from voiceapi.errors import NotFound
from voiceapi.fields import LONGEST_QUERY
from voiceapi.finding import Named, find_agent, within
from voiceapi.limiting import spend, spenders
from voiceapi.models import VoiceSession
from voiceapi.requests import MOST_QUERIES, MOST_RESULTS, USUAL_RESULTS
from voiceapi.searching import Wanted, search
from voiceapi.sessions import CallNote, find_contact, open_session
from voiceapi.telemetry import search_span

_ONE_AT_A_TIME: Final = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


@dataclass(frozen=True)
class Peer:
    """Who asks, as which agent, in which call, through which door."""

    holder: KeyHolder
    named: Named
    call: CallNote
    door: str


def ask_for_peer(
    peer: Peer,
    queries: tuple[str, ...],
    *,
    at: datetime,
    deadline: Deadline,
    limit: int = USUAL_RESULTS,
) -> Asked:
    """Answer what the voice API would for this agent and caller.

    Raises: NotFound, RateLimited
    """
    session = _session(peer, at=at, deadline=deadline)
    body = _body(queries, limit)
    wanted = Wanted(peer.holder, peer.named, str(session.pk), body, peer.door)
    with search_span() as span:
        asked = search(wanted, at=at, deadline=deadline)
        span.answered(asked)
    return asked


def named_by(text: str) -> Named:
    """Return what `organization/agent` names.

    Raises: NotFound
    """
    organization, slash, agent = text.partition("/")
    if not (organization and slash and agent):
        raise NotFound
    return Named(organization, agent)


def fitting(text: str) -> str:
    """Return as much of a text as one query may hold."""
    words = " ".join(unicodedata.normalize("NFKC", text).split())[:LONGEST_QUERY]
    return words if normalise(words) else ""


def relevances(asked: Asked) -> list[float]:
    """Return the calibrated relevance of each result, the only score that says something alone."""
    by_asset: dict[Any, float] = {}
    for ranked in asked.answer.ranked:
        by_asset.setdefault(ranked.asset_id, ranked.relevance)
    scores = (by_asset.get(result.asset_id, 0.0) for result in asked.answer.results)
    return [round(min(1.0, max(0.0, score)), 4) for score in scores]


def _session(peer: Peer, *, at: datetime, deadline: Deadline) -> VoiceSession:
    """Return the session of this call; opening one is a request of its own and counts as one."""
    with within(peer.holder, deadline):
        agent = find_agent(peer.holder, peer.named)
        alike = _alike(peer, agent)
        found = _open_one(agent, alike, at)
    if found is not None:
        return found
    spend(spenders(peer.holder, agent))
    with within(peer.holder, deadline):
        return _opened(peer, agent, alike, at)


def _opened(peer: Peer, agent: PhoneAgent, alike: dict[str, Any], at: datetime) -> VoiceSession:
    """Open one, unless another request of the same call has done so in the meantime."""
    with connection.cursor() as cursor:
        cursor.execute(_ONE_AT_A_TIME, [json.dumps([str(agent.pk), *map(str, alike.values())])])
    found = _open_one(agent, alike, at)
    return found or open_session(agent, peer.call, (), kid=peer.holder.kid, at=at).session


def _alike(peer: Peer, agent: PhoneAgent) -> dict[str, Any]:
    """Return what a session has to agree with; an id alone does not tell who may hear what in it."""
    call = peer.call
    contact = find_contact(agent, call.contact)
    return {
        "kid": peer.holder.kid,
        "call_id": call.call_id,
        "channel": call.channel,
        "country": call.country,
        "contact_id": contact and contact.pk,
    }


def _open_one(agent: PhoneAgent, alike: dict[str, Any], at: datetime) -> VoiceSession | None:
    return (
        VoiceSession.objects.filter(
            **alike,
            organization_id=agent.organization_id,
            agent=agent,
            ended_at=None,
            expires_at__gt=at,
        )
        .order_by("created_at", "id")
        .first()
    )


def _body(queries: tuple[str, ...], limit: int) -> dict[str, Any]:
    return {
        "queries": list(queries[:MOST_QUERIES]),
        "turn_context": None,
        "follows": None,
        "pinned": [],
        "speculative": False,
        "adopted": [],
        "limit": max(1, min(MOST_RESULTS, limit)),
    }
