"""One search of one session, from whoever holds a key to an answer."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError, connection

from knowledge.retrieval.deadline import Deadline, DeadlinePassed
from knowledge.retrieval.grounding import UNAVAILABLE
from knowledge.retrieval.pipeline import digest
from knowledge.retrieval.types import Answer, SearchStatus
from scopes.asking import Asked, CallerFacts, Question, Recording, TurnContext, ask
from tenants.keys import KeyHolder
from voiceapi.finding import Named, find_session, within
from voiceapi.following import mark_adopted, pinned_assets
from voiceapi.limiting import spend, spenders
from voiceapi.models import VoiceSession
from voiceapi.sessions import is_kept, touch

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wanted:
    """Who wants what searched in which session."""

    holder: KeyHolder
    named: Named
    session: str
    body: dict[str, Any]
    door: str = "voice"


def search(wanted: Wanted, *, at: datetime, deadline: Deadline) -> Asked:
    """Answer as the agent of the session; being late and being cut off are answers too.

    Raises: NotFound, RateLimited
    """
    try:
        session, question = _prepared(wanted, at=at, deadline=deadline)
        spend(spenders(wanted.holder, session.agent) | {"session": str(session.pk)})
        _give_connection_back()
    except DeadlinePassed:
        return _unasked(SearchStatus.TIMEOUT)
    except (OperationalError, InterfaceError) as trouble:
        log.error("session_not_read", extra={"failure": type(trouble).__name__})
        late = not deadline.remaining()
        return _unasked(SearchStatus.TIMEOUT if late else SearchStatus.UNAVAILABLE)
    return ask(
        session.agent,
        question,
        CallerFacts(session.contact, session.channel, session.country or None),
        at=at,
        deadline=deadline,
        recording=_recording(wanted, session),
    )


def _prepared(wanted: Wanted, *, at: datetime, deadline: Deadline) -> tuple[VoiceSession, Question]:
    """Use the session in one short transaction, over before anything is embedded."""
    with within(wanted.holder, deadline):
        session = find_session(wanted.holder, wanted.named, wanted.session, at=at)
        touch(session, at=at)
        mark_adopted(session, wanted.body["adopted"])
        return session, _question(session, wanted.body)


def _recording(wanted: Wanted, session: VoiceSession) -> Recording:
    """Nothing is written down of a call that was forgotten meanwhile."""
    speculative = wanted.body["speculative"]
    return Recording(session.pk, wanted.door, speculative, partial(is_kept, session))


def _give_connection_back() -> None:
    """Hold none while the embedding is awaited; where threads share connections, others need it."""
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()


def _question(session: VoiceSession, body: dict[str, Any]) -> Question:
    turn = body["turn_context"]
    context = turn and TurnContext(turn["utterance"], turn["structured_value_digits"])
    return Question(
        queries=tuple(body["queries"]),
        turn_context=context,
        pinned=pinned_assets(session, body["follows"], body["pinned"]),
        limit=body["limit"],
    )


def _unasked(status: SearchStatus) -> Asked:
    return Asked(Answer(status, guidance=UNAVAILABLE, digest=digest(())), None, uuid.uuid4())
