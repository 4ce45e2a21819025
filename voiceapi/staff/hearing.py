"""What one call heard: its searches in order, and the same search again, now or as of then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

from knowledge.models import Instruction, Item, SearchRecord
from knowledge.retrieval.deadline import Deadline
from scopes.asking import Asked, CallerFacts, Question, Recording, TurnContext, ask
from voiceapi.following import STAFF, searches_of
from voiceapi.models import VoiceSession
from voiceapi.sessions import is_kept

DEADLINE_S: Final = 10.0
MOST_SHOWN: Final = 500
USUAL_LIMIT: Final = 5


@dataclass(frozen=True)
class HeardResult:
    """One result as the record has it, under the title that its row has today."""

    told: dict[str, Any]
    title: str
    is_gone: bool


@dataclass(frozen=True)
class HeardSearch:
    """One search of a call."""

    record: SearchRecord
    results: tuple[HeardResult, ...]
    scope_changed: bool

    @property
    def was_used(self) -> bool:
        """Whether the call heard it, as far as the runtime has told."""
        return self.record.adopted or not self.record.speculative


@dataclass(frozen=True)
class Replay:
    """The same question again, and whether the same came out."""

    record: SearchRecord
    at: datetime
    asked: Asked

    @property
    def is_same(self) -> bool:
        """Whether today's passages are those that were heard."""
        return self.asked.answer.digest == self.record.digest


def heard(session: VoiceSession) -> list[HeardSearch]:
    """Return the searches of a session, oldest first.

    Runs inside the organization's context.
    Cost: three statements
    """
    records = list(searches_of(session).order_by("at", "id")[:MOST_SHOWN])
    titles = _titles(records)
    before: dict[str, Any] | None = None
    told = []
    for record in records:
        changed = before is not None and record.scope != before
        told.append(HeardSearch(record, tuple(_results(record, titles)), changed))
        before = record.scope
    return told


def find_search(session: VoiceSession, search_id: UUID) -> SearchRecord | None:
    """Return one search of a session; a search of any other is not there."""
    return searches_of(session).filter(pk=search_id).first()


def replay(session: VoiceSession, record: SearchRecord, *, at: datetime) -> Replay:
    """Ask again as the same agent for the same caller; the live rows decide, as they always do.

    It is written down beside the call, and forgotten with it.
    """
    asked = ask(
        session.agent,
        _question(record),
        CallerFacts(session.contact, session.channel, session.country or None),
        at=at,
        deadline=Deadline.after(DEADLINE_S),
        recording=Recording(session.pk, STAFF, is_wanted=partial(is_kept, session)),
    )
    return Replay(record, at, asked)


def _question(record: SearchRecord) -> Question:
    kept = record.asked
    return Question(
        queries=tuple(record.queries),
        turn_context=TurnContext(structured_value_digits=kept.get("digits")),
        pinned=tuple(kept.get("pinned", ())),
        limit=kept.get("limit", USUAL_LIMIT),
    )


def _titles(records: Sequence[SearchRecord]) -> dict[str, tuple[str, bool]]:
    """Return title and absence by asset; a row that was erased has neither."""
    organization = {record.organization_id for record in records}
    assets = {result["asset"] for record in records for result in record.results}
    return {
        str(pk): (title, deleted_at is not None)
        for model in (Item, Instruction)
        for pk, title, deleted_at in model._default_manager.filter(
            organization_id__in=organization, pk__in=assets
        ).values_list("pk", "title", "deleted_at")
    }


def _results(record: SearchRecord, titles: dict[str, tuple[str, bool]]) -> Iterable[HeardResult]:
    for result in record.results:
        title, is_gone = titles.get(result["asset"], ("", True))
        yield HeardResult(result, title or result["id"], is_gone)
