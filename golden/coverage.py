"""What callers asked in the last 30 days, grouped by meaning, and what answered them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, Final

import numpy as np
from django.db import connection

from golden.finding import title_of
from golden.models import AssetKind, GoldenAnswer
from knowledge.embedding.protocol import Embedder
from knowledge.embedding.spending import paid_by
from knowledge.errors import EmbeddingFailed
from knowledge.text.normalising import match_key
from knowledge.text.speech import prepare_for_embedding
from tenants.isolation import organization_context

LOOKS_BACK: Final = timedelta(days=30)
MOST_WAYS: Final = 20_000
MOST_QUESTIONS: Final = 400
EMBEDDED_AT_ONCE: Final = 64
DEADLINE_S: Final = 20.0
# A question joins the group whose first question is so near (cosine); measured on paraphrases.
NEAR: Final = 0.93
MOST_BROUGHT: Final = 10
GOLDEN, KNOWLEDGE, NOTHING = "golden", "knowledge", "nothing"
# Every way of asking with what came first and the answers that came up, the commonest first.
_COUNT: Final = """
SELECT r.queries ->> 0, r.results #>> '{0,type}',
       jsonb_path_query_array(r.results, '$[*] ? (@.type == $kind).id',
                              jsonb_build_object('kind', %(golden)s::text))::text,
       count(*) AS times
  FROM knowledge_searchrecord r
 WHERE r.organization_id = %(organization)s AND r.door = 'voice' AND r.at BETWEEN %(from)s AND %(at)s
   AND (r.adopted OR NOT r.speculative) AND r.queries ->> 0 IS NOT NULL
 GROUP BY 1, 2, 3 ORDER BY times DESC, 1 LIMIT %(most)s
"""


@dataclass(frozen=True)
class Question:
    """One distinct question: how often it was asked, and what came first how often."""

    text: str
    times: int
    answered: Mapping[str, int]
    answers: frozenset[str]


@dataclass(frozen=True)
class Group:
    """Questions of one meaning, the commonest first."""

    questions: tuple[Question, ...]

    @property
    def text(self) -> str:
        """The commonest way of asking."""
        return self.questions[0].text

    @property
    def times(self) -> int:
        """How often it was asked."""
        return sum(question.times for question in self.questions)

    @property
    def answered(self) -> dict[str, int]:
        """How often a golden answer, knowledge or nothing came first."""
        counts: Counter[str] = Counter()
        for question in self.questions:
            counts.update(question.answered)
        return {kind: counts[kind] for kind in (GOLDEN, KNOWLEDGE, NOTHING)}

    @property
    def brought(self) -> dict[str, str]:
        """What a new draft begins with."""
        others = [question.text for question in self.questions[1 : MOST_BROUGHT + 1]]
        return {"question": self.text, "paraphrases": "\n".join(others)}


@dataclass(frozen=True)
class Asked:
    """What was asked, counted and grouped at one instant.

    searches   how many there were.
    is_grouped  whether the embedder answered.
    """

    questions: tuple[Question, ...]
    groups: tuple[Group, ...]
    searches: int
    is_grouped: bool
    at: datetime


@dataclass(frozen=True)
class Coverage:
    """Everything that the page shows.

    unused     answers that no caller has heard in this time.
    competing  pairs of answers that came up for the same questions, with how often.
    """

    asked: Asked
    unused: list[tuple[str, str]]
    competing: list[tuple[str, str, int]]

    @property
    def groups(self) -> tuple[Group, ...]:
        """The questions, the commonest first."""
        return self.asked.groups


def coverage(organization_id: int, asked: Asked) -> Coverage:
    """Return what was asked beside the answers that are live now.

    Cost: one statement.
    """
    with organization_context(organization_id):
        live = {str(row.pk): title_of(row) for row in _live(organization_id)}
    heard = {answer for question in asked.questions for answer in question.answers}
    return Coverage(
        asked=asked,
        unused=sorted((pk, title) for pk, title in live.items() if pk not in heard),
        competing=_competing(asked.questions, live),
    )


def count_asked(organization_id: int, embedder: Embedder, *, at: datetime) -> Asked:
    """Count what was asked in the last 30 days, and group what is asked most by meaning.

    Speculative searches count once they were adopted.
    Cost: one statement over the searches of that time, and a few calls of the embedder; no transaction
    is open meanwhile.
    """
    with _patient(organization_id), connection.cursor() as cursor:
        wanted: dict[str, Any] = {
            "organization": organization_id,
            "from": at - LOOKS_BACK,
            "at": at,
        }
        cursor.execute(_COUNT, {**wanted, "golden": GOLDEN, "most": MOST_WAYS})
        counted = cursor.fetchall()
    questions = _questions(counted)
    with paid_by(organization_id, embedder.space):
        groups, is_grouped = _grouped(questions[:MOST_QUESTIONS], embedder)
    return Asked(
        questions=tuple(questions),
        groups=tuple(sorted(groups, key=lambda group: (-group.times, group.text))),
        searches=sum(question.times for question in questions),
        is_grouped=is_grouped,
        at=at,
    )


def _live(organization_id: int) -> Iterable[GoldenAnswer]:
    return GoldenAnswer.objects.filter(
        organization_id=organization_id, kind=AssetKind.ANSWER, published_version__isnull=False
    ).select_related("published_version")


def _questions(counted: Sequence[tuple[str, str | None, Any, int]]) -> list[Question]:
    """Put together what differs in writing alone, the commonest first."""
    texts: dict[str, str] = {}
    times: Counter[str] = Counter()
    answered: dict[str, Counter[str]] = defaultdict(Counter)
    answers: dict[str, set[str]] = defaultdict(set)
    for text, first, golden, count in counted:
        key = match_key(text)
        texts.setdefault(key, text)
        times[key] += count
        answered[key][_what(first)] += count
        answers[key].update(json.loads(golden))
    return [
        Question(texts[key], count, dict(answered[key]), frozenset(answers[key]))
        for key, count in sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _patient(organization_id: int) -> AbstractContextManager[None]:
    # A month of searches takes longer than any other page may.
    return organization_context(organization_id, settings={"statement_timeout": "30s"})


def _what(first: str | None) -> str:
    if first is None:
        return NOTHING
    return GOLDEN if first == GOLDEN else KNOWLEDGE


def _grouped(questions: Sequence[Question], embedder: Embedder) -> tuple[list[Group], bool]:
    """Put every question to the first group that is near, the commonest questions leading."""
    try:
        vectors = _vectors([question.text for question in questions], embedder)
    except EmbeddingFailed:
        return [Group((question,)) for question in questions], False
    leaders: list[Any] = []
    members: list[list[Question]] = []
    for question, vector in zip(questions, vectors, strict=True):
        near = np.asarray(leaders) @ vector if leaders else np.zeros(0)
        if len(near) and near.max() >= NEAR:
            members[int(near.argmax())].append(question)
        else:
            leaders.append(vector)
            members.append([question])
    return [Group(tuple(group)) for group in members], True


def _vectors(texts: Sequence[str], embedder: Embedder) -> list[Any]:
    vectors: list[Any] = []
    for start in range(0, len(texts), EMBEDDED_AT_ONCE):
        spoken = [prepare_for_embedding(t) for t in texts[start : start + EMBEDDED_AT_ONCE]]
        vectors += embedder.embed_queries(spoken, deadline_s=DEADLINE_S)
    return vectors


def _competing(
    questions: Sequence[Question], live: Mapping[str, str]
) -> list[tuple[str, str, int]]:
    pairs: Counter[tuple[str, str]] = Counter()
    for question in questions:
        for pair in combinations(sorted(question.answers & set(live)), 2):
            pairs[pair] += question.times
    return [(live[a], live[b], times) for (a, b), times in pairs.most_common(20)]
