"""Ask as an agent: what both doors call. Prepare, resolve, retrieve, write it down."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, InterfaceError, OperationalError, connection
from psycopg import errors as pg

from knowledge.embedding.selection import current_embedder
from knowledge.models import SearchRecord
from knowledge.retrieval.bounding import LOCK_WAIT, until
from knowledge.retrieval.deadline import Deadline, DeadlinePassed
from knowledge.retrieval.grounding import NO_MATCH, UNAVAILABLE
from knowledge.retrieval.pipeline import Stopwatch, digest, retrieve
from knowledge.retrieval.preparing import prepare
from knowledge.retrieval.query import focus_on
from knowledge.retrieval.rendering import ForeignRow
from knowledge.retrieval.types import (
    Allowlist,
    Answer,
    CategoryName,
    Everything,
    Focus,
    Result,
    Scope,
    SearchStatus,
    Selection,
    Understood,
)
from scopes.resolution import allowlist_for
from scopes.snapshots import snapshot_of
from tenants.models import Contact, PhoneAgent

log = logging.getLogger(__name__)

# What a search leaves of its time for being written down (seconds).
RECORD_NEEDS: Final = 0.3


@dataclass(frozen=True)
class TurnContext:
    """What the caller is doing right now; focuses excerpts, is never embedded."""

    utterance: str = ""
    structured_value_digits: int | None = None


@dataclass(frozen=True)
class Question:
    """What is asked: one to four standalone queries, and what to keep in view."""

    queries: tuple[str, ...]
    turn_context: TurnContext | None = None
    pinned: tuple[str, ...] = ()
    limit: int = 5


@dataclass(frozen=True)
class CallerFacts:
    """Who is calling, on which channel, from where."""

    contact: Contact | None
    channel: str
    country: str | None


def _always() -> bool:
    return True


@dataclass(frozen=True)
class Recording:
    """How the search is written down, and whether: that is asked in the record's own transaction."""

    session_id: UUID | None = None
    door: str = "voice"
    speculative: bool = False
    is_wanted: Callable[[], bool] = _always


@dataclass(frozen=True)
class Asked:
    """The answer, the allowlist it was found in, the name of its record, and who was asked."""

    answer: Answer
    allowlist: Allowlist | None
    search_id: UUID
    agent_id: UUID | None = None


@dataclass(frozen=True)
class _Request:
    agent: PhoneAgent
    question: Question
    caller: CallerFacts
    at: datetime
    deadline: Deadline
    recording: Recording


def ask(
    agent: PhoneAgent,
    question: Question,
    caller: CallerFacts,
    *,
    at: datetime,
    deadline: Deadline,
    recording: Recording = Recording(),
) -> Asked:
    """Answer from what this agent may say to this caller now; a failed leg is a status, no error.

    No connection is held while the embedding is awaited; scope and search share one snapshot.
    """
    request = _Request(agent, question, caller, at, deadline, recording)
    understood = prepare(
        question.queries,
        organization_id=agent.organization_id,
        code_patterns=agent.organization.code_patterns,
        embedder=current_embedder(),
        deadline=deadline,
    )
    understood = replace(
        understood, focus=_focus(request, understood), pinned=_pinned(request.question)
    )
    allowlist, answer = _search(request, understood)
    search_id = uuid.uuid4()
    _write_down(search_id, request, understood, allowlist, answer)
    return Asked(answer, allowlist, search_id, agent.pk)


def _focus(request: _Request, understood: Understood) -> Focus:
    turn = request.question.turn_context or TurnContext()
    return focus_on(
        understood.queries,
        turn.utterance,
        turn.structured_value_digits,
        code_patterns=request.agent.organization.code_patterns,
    )


def _pinned(question: Question) -> tuple[UUID, ...]:
    return tuple(UUID(asset_id) for asset_id in question.pinned)


def _search(request: _Request, understood: Understood) -> tuple[Allowlist | None, Answer]:
    try:
        # A thread may have to wait for one; what is left is counted from then on.
        connection.ensure_connection()
        deadline = request.deadline.earlier(RECORD_NEEDS)
        with until(deadline, request.agent.organization_id, snapshot=True):
            return _in_snapshot(request, understood)
    except (OperationalError, InterfaceError, ForeignRow, DeadlinePassed) as failure:
        return None, _failed(failure, understood, request.deadline)


def _in_snapshot(request: _Request, understood: Understood) -> tuple[Allowlist, Answer]:
    clock = Stopwatch(dict(understood.timings_ms))
    caller = request.caller
    allowlist = allowlist_for(
        request.agent,
        contact=caller.contact,
        channel=caller.channel,
        country=caller.country,
        at=request.at,
    )
    clock.lap("scope")
    if _is_vacant(allowlist.instructions) and _is_vacant(allowlist.knowledge):
        return allowlist, Answer(
            SearchStatus.RESTRICTED_EMPTY,
            guidance=NO_MATCH,
            digest=digest(()),
            timings_ms=clock.laps,
        )
    understood = replace(understood, timings_ms=clock.laps)
    return allowlist, retrieve(understood, allowlist, limit=request.question.limit)


def _is_vacant(scope: Scope) -> bool:
    return isinstance(scope, Selection) and scope.is_vacant


def _failed(failure: Exception, understood: Understood, deadline: Deadline) -> Answer:
    late = isinstance(failure, DeadlinePassed) or (
        isinstance(failure.__cause__, pg.QueryCanceled) and deadline.remaining() < 1
    )
    log.error("search_failed", extra={"failure": type(failure).__name__})
    return Answer(
        SearchStatus.TIMEOUT if late else SearchStatus.UNAVAILABLE,
        guidance=UNAVAILABLE,
        digest=digest(()),
        timings_ms=dict(understood.timings_ms),
    )


def _write_down(
    search_id: UUID,
    request: _Request,
    understood: Understood,
    allowlist: Allowlist | None,
    answer: Answer,
) -> None:
    """Keep what was asked (redacted) and found; an answer does not fail with it.

    Nor does it wait: a record for which no time is left, or whose table is locked, is not made.
    """
    settings = {**LOCK_WAIT, "synchronous_commit": "off"}
    try:
        with until(request.deadline, request.agent.organization_id, settings=settings):
            if not request.recording.is_wanted():
                return
            SearchRecord.objects.create(
                id=search_id,
                organization_id=request.agent.organization_id,
                agent=request.agent,
                at=request.at,
                door=request.recording.door,
                session_id=request.recording.session_id,
                speculative=request.recording.speculative,
                queries=[query.text for query in understood.queries],
                instruction_mode=_mode(allowlist, "instruction"),
                knowledge_mode=_mode(allowlist, "knowledge"),
                scope=snapshot_of(allowlist) if allowlist else {},
                asked=_asked(request.question),
                **_outcome(answer),
            )
    except (DatabaseError, DeadlinePassed) as failure:
        log.error("search_not_recorded", extra={"failure": type(failure).__name__})


def _asked(question: Question) -> dict[str, Any]:
    """Keep what a replay needs; what the caller was saying meanwhile is not kept."""
    turn = question.turn_context
    return {
        "limit": question.limit,
        "pinned": list(question.pinned),
        "digits": turn.structured_value_digits if turn else None,
    }


def _outcome(answer: Answer) -> dict[str, Any]:
    return {
        "status": answer.status.value,
        "degraded": list(answer.degraded),
        "candidates": answer.counts,
        "results": [_told(result, answer) for result in answer.results],
        "timings_ms": answer.timings_ms,
        "profile_version": answer.profile_version,
        "space": answer.space_key,
        "digest": answer.digest,
    }


def _told(result: Result, answer: Answer) -> dict[str, Any]:
    ranked = next((r for r in answer.ranked if r.asset_id == result.asset_id), None)
    told: dict[str, Any] = {
        "type": result.type,
        "id": result.id,
        "asset": str(result.asset_id),
        "chunk": result.chunk,
    }
    if ranked is not None:
        told |= {
            "legs": list(ranked.legs),
            "ranks": dict(ranked.ranks),
            "score": round(ranked.score, 5),
            "relevance": round(ranked.relevance, 4),
        }
    return told


def _mode(allowlist: Allowlist | None, category: CategoryName) -> str:
    if allowlist is None:
        return "unknown"
    return "all" if isinstance(allowlist.scope(category), Everything) else "selected"
