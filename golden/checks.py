"""What an answer would do if it were published: shown to staff, who may publish it anyway.

Searches run as an agent, on what is published now; the draft itself is not in the index yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np

from golden.content import Content
from golden.figures import alike, figures, same_thing
from golden.models import GoldenAnswer
from knowledge.embedding.protocol import Embedder, Vector
from knowledge.embedding.spending import paid_by
from knowledge.errors import EmbeddingFailed
from knowledge.models import SearchRecord
from knowledge.retrieval.deadline import Deadline
from knowledge.retrieval.types import Answer
from knowledge.text.normalising import match_key, normalise
from knowledge.text.refusals import is_refusal
from knowledge.text.speech import prepare_for_embedding
from scopes.asking import CallerFacts, Question, Recording, ask
from tenants.isolation import organization_context
from tenants.models import PhoneAgent

LOOKS_BACK: Final = timedelta(days=30)
MOST_LOGGED: Final = 1_000
MOST_ASKED: Final = 12
MOST_SHOWN: Final = 20
DEADLINE_S: Final = 5.0
USUAL_CHANNEL: Final = "phone"
# What callers asked is kept once, with the call that it is forgotten with.
_UNRECORDED: Final = Recording(door="staff", is_wanted=lambda: False)
_NEGATIONS: Final = {
    "en": ("I do not want {}", "I don't need {}"),
    "ar": ("لا أريد {}",),
    "zh": ("我不想要{}",),
    "es": ("No quiero {}",),
    "de": ("Ich möchte {} nicht",),
    "fr": ("Je ne veux pas {}",),
}


@dataclass(frozen=True)
class Asked:
    """One question put to an agent: what comes first now."""

    text: str
    first: str
    first_kind: str
    is_own: bool


@dataclass(frozen=True)
class Contradiction:
    """A figure of the draft beside another figure that knowledge gives for the same words."""

    figure: str
    other: str
    item: str
    title: str


@dataclass(frozen=True)
class Checked:
    """Everything that the page shows."""

    agent: str
    paraphrases: list[Asked] = field(default_factory=list)
    would_answer: list[str] = field(default_factory=list)
    displaced: list[Asked] = field(default_factory=list)
    negations: list[str] = field(default_factory=list)
    contradictions: list[Contradiction] = field(default_factory=list)
    is_complete: bool = True

    def noted(self) -> dict[str, Any]:
        """Return what the audit entry keeps of it: counts, no texts of callers."""
        return {
            "agent": self.agent,
            "would_answer": len(self.would_answer),
            "displaces": sorted({one.first for one in self.displaced}),
            "negations": len(self.negations),
            "contradictions": [f"{c.figure} / {c.other}: {c.title}" for c in self.contradictions],
            "complete": self.is_complete,
        }


def check(
    golden: GoldenAnswer, content: Content, agent: PhoneAgent, embedder: Embedder, *, at: datetime
) -> Checked:
    """Look what a content would do for one agent.

    Cost: about a dozen searches and one call of the embedder; no transaction is open meanwhile.
    """
    asked = [_asked(agent, golden, text, at=at) for text in _own(content)]
    logged = _logged(golden.organization_id, at=at)
    with paid_by(golden.organization_id, embedder.space):
        nearest, complete = _nearest(content, logged, embedder)
    answers = [(text, _ask(agent, text, at=at)) for text in nearest[:MOST_ASKED]]
    return Checked(
        agent=agent.name,
        paraphrases=asked,
        would_answer=nearest[:MOST_SHOWN],
        displaced=_displaced(golden, asked, answers),
        negations=_captured(content),
        contradictions=_contradictions(golden, content, [a for _, a in answers], agent, at=at),
        is_complete=complete,
    )


def _own(content: Content) -> list[str]:
    return [content.question, *content.paraphrases][:MOST_ASKED]


def _ask(agent: PhoneAgent, text: str, *, at: datetime) -> Answer:
    return ask(
        agent,
        Question((text,), limit=5),
        CallerFacts(None, USUAL_CHANNEL, agent.organization.country or None),
        at=at,
        deadline=Deadline.after(DEADLINE_S),
        recording=_UNRECORDED,
    ).answer


def _asked(agent: PhoneAgent, golden: GoldenAnswer, text: str, *, at: datetime) -> Asked:
    return _told(golden, text, _ask(agent, text, at=at))


def _told(golden: GoldenAnswer, text: str, answer: Answer) -> Asked:
    if not answer.results:
        return Asked(text, "", "", is_own=False)
    first = answer.results[0]
    return Asked(text, first.title, first.type, is_own=first.id == str(golden.pk))


def _displaced(
    golden: GoldenAnswer, asked: Sequence[Asked], answers: Iterable[tuple[str, Answer]]
) -> list[Asked]:
    """Other golden answers that come first now where the draft would."""
    told = [*asked, *(_told(golden, text, answer) for text, answer in answers)]
    distinct = {match_key(one.text): one for one in told}
    return [one for one in distinct.values() if one.first_kind == "golden" and not one.is_own]


def _logged(organization_id: int, *, at: datetime) -> list[str]:
    with organization_context(organization_id):
        rows = SearchRecord.objects.filter(
            organization_id=organization_id, door="voice", at__gte=at - LOOKS_BACK, at__lte=at
        )
        queries = rows.values_list("queries", flat=True)[:MOST_LOGGED]
        distinct = {match_key(texts[0]): texts[0] for texts in queries if texts}
    return list(distinct.values())


def _nearest(content: Content, logged: Sequence[str], embedder: Embedder) -> tuple[list[str], bool]:
    """Return the logged questions that are nearer to the draft than its own paraphrases spread."""
    if not logged:
        return [], True
    try:
        own = _matrix(embedder.embed_passages(_own(content), deadline_s=DEADLINE_S))
        spoken = [prepare_for_embedding(text) for text in logged]
        others = _matrix(embedder.embed_queries(spoken, deadline_s=DEADLINE_S))
    except EmbeddingFailed:
        return [], False
    best = (others @ own.T).max(axis=1)
    needed = _spread(own)
    order = sorted(range(len(logged)), key=lambda i: (-float(best[i]), logged[i]))
    keys = {match_key(text) for text in _own(content)}
    return [
        logged[i]
        for i in order
        if (best[i] >= needed or match_key(logged[i]) in keys) and not is_refusal(logged[i])
    ], True


def _spread(own: Any) -> float:
    """Return how near a question must be: as the paraphrases are to one another at least."""
    if len(own) < 2:
        return 0.9
    between = own @ own.T
    np.fill_diagonal(between, -1.0)
    return max(0.85, float(np.median(between.max(axis=1))))


def _matrix(vectors: Sequence[Vector]) -> Any:
    return np.asarray(vectors, dtype=np.float32)


def _captured(content: Content) -> list[str]:
    """Return refusals of the question that the draft names itself, and would so answer."""
    own = {match_key(text) for text in _own(content)}
    topic = content.question.rstrip("?؟？ ")
    language = content.language.partition("-")[0] or "en"
    made = [pattern.format(topic) for pattern in _NEGATIONS.get(language, _NEGATIONS["en"])]
    refusing = [text for text in _own(content) if is_refusal(text)]
    return refusing + [text for text in made if match_key(text) in own]


def _contradictions(
    golden: GoldenAnswer,
    content: Content,
    answers: Sequence[Answer],
    agent: PhoneAgent,
    *,
    at: datetime,
) -> list[Contradiction]:
    """Return figures that knowledge in the agent's scope gives otherwise for the same words."""
    found = [_ask(agent, content.question, at=at), *answers[:3]]
    titles = {
        result.asset_id: result
        for answer in found
        for result in answer.results
        if result.id != str(golden.pk)
    }
    mine = figures(content.answer)
    told: dict[tuple[str, str], Contradiction] = {}
    for asset_id, result in titles.items():
        for words, figure in figures(result.content):
            for own_words, own in mine:
                if own != figure and same_thing(own_words, words) and alike(own, figure):
                    said = Contradiction(own, figure, str(asset_id), result.title)
                    told.setdefault((own, result.title), said)
    known = normalise(content.answer)
    return [one for one in told.values() if normalise(one.other) not in known][:MOST_SHOWN]
