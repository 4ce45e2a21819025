"""The content of an answer as one value: what a form, an API and an import all give."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from golden.errors import ContentRefused
from golden.models import LONGEST_ANSWER, AnswerContent, AssetKind
from knowledge.errors import FolderRefused
from knowledge.folders import segments
from knowledge.indexing.writing import Gates, Limit
from knowledge.models import Visibility
from knowledge.text.normalising import clean, match_key
from tenants.models import PhoneAgent, Segment

LONGEST_QUESTION = 400
LONGEST_PARAPHRASE = 500
MOST_PARAPHRASES = 50


@dataclass(frozen=True)
class Content:
    """Words, applicability and validity of one answer or rule."""

    question: str
    answer: str
    paraphrases: tuple[str, ...] = ()
    language: str = ""
    folder: str = ""
    visibility: str = Visibility.PUBLIC
    channel_restricted: bool = False
    channels: tuple[str, ...] = ()
    segment_restricted: bool = False
    segments: tuple[UUID, ...] = ()
    jurisdiction_restricted: bool = False
    jurisdictions: tuple[str, ...] = ()
    agent_restricted: bool = False
    agents: tuple[UUID, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    @property
    def hash(self) -> str:
        """Return one hash over everything: a request to publish is bound to it."""
        text = json.dumps(self.columns(), default=str, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def columns(self) -> dict[str, Any]:
        """Return them as columns of a draft or a version."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in ((f.name, getattr(self, f.name)) for f in fields(self))
        }

    def gates(self) -> Gates:
        """Return the gates of the item that serves it."""
        return Gates(
            visibility=self.visibility,
            channels=Limit(self.channel_restricted, self.channels),
            segments=Limit(self.segment_restricted, self.segments),
            jurisdictions=Limit(self.jurisdiction_restricted, self.jurisdictions),
            valid_from=self.valid_from,
            valid_until=self.valid_until,
        )


def content_of(row: AnswerContent) -> Content:
    """Return the content that a draft or a version holds."""
    return _made({f.name: getattr(row, f.name) for f in fields(Content)})


def _made(values: dict[str, Any]) -> Content:
    frozen: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return Content(**frozen)


def checked(content: Content, kind: str, organization_id: int) -> Content:
    """Return the content cleaned, or refuse it with a sentence for each field.

    Raises: ContentRefused
    Cost:   at most two statements.
    """
    cleaned = _cleaned(content)
    wrong = dict(_wrong(cleaned, kind)) | dict(_unknown(cleaned, organization_id))
    if wrong:
        raise ContentRefused(fields=wrong)
    return cleaned


def _cleaned(content: Content) -> Content:
    values = content.columns() | {
        "question": clean(content.question).strip(),
        "answer": clean(content.answer).strip(),
        "paraphrases": _distinct(content.paraphrases, content.question),
        "channels": sorted({c.strip().lower() for c in content.channels}),
        "jurisdictions": sorted({j.strip().upper() for j in content.jurisdictions}),
        "segments": sorted(set(content.segments)),
        "agents": sorted(set(content.agents)),
    }
    for gate in ("channel", "segment", "jurisdiction", "agent"):
        values[f"{gate}_restricted"] |= bool(values[f"{gate}s"])
    return _made(values)


def _distinct(paraphrases: Sequence[str], question: str) -> list[str]:
    """Keep the first of those that are asked alike, and none that is the question itself."""
    seen = {"", match_key(question)}
    kept: list[str] = []
    for paraphrase in paraphrases:
        if match_key(paraphrase) not in seen:
            seen.add(match_key(paraphrase))
            kept.append(clean(paraphrase).strip())
    return kept


def _wrong(content: Content, kind: str) -> Iterator[tuple[str, str]]:
    yield from _wrong_words(content, kind)
    if content.valid_from and content.valid_until and content.valid_from >= content.valid_until:
        yield "valid_until", _("It would end before it begins.")
    try:
        segments(content.folder)
    except FolderRefused as refusal:
        yield "folder", _(str(refusal))


def _wrong_words(content: Content, kind: str) -> Iterator[tuple[str, str]]:
    for name, text in (("question", content.question), ("answer", content.answer)):
        if not text:
            yield name, _("This is needed.")
    if len(content.question) > LONGEST_QUESTION:
        yield "question", _("A question has at most %s characters.") % LONGEST_QUESTION
    if kind == AssetKind.ANSWER and len(content.answer) > LONGEST_ANSWER:
        told = _("It is spoken whole, so it has at most %s characters.")
        yield "answer", told % LONGEST_ANSWER
    if len(content.paraphrases) > MOST_PARAPHRASES:
        yield "paraphrases", _("There are at most %s paraphrases.") % MOST_PARAPHRASES
    if any(len(paraphrase) > LONGEST_PARAPHRASE for paraphrase in content.paraphrases):
        yield "paraphrases", _("A paraphrase has at most %s characters.") % LONGEST_PARAPHRASE


def _unknown(content: Content, organization_id: int) -> Iterator[tuple[str, str]]:
    for name, model, wanted in (
        ("segments", Segment, set(content.segments)),
        ("agents", PhoneAgent, set(content.agents)),
    ):
        if wanted and wanted - set(
            model._default_manager.filter(
                organization_id=organization_id, pk__in=wanted
            ).values_list("pk", flat=True)
        ):
            yield name, _("One of them is not there.")
