"""What callers asked in the last 30 days, grouped by meaning, and what answered them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, Final

import numpy as np

from golden.finding import title_of
from golden.models import AssetKind, GoldenAnswer
from knowledge.embedding.protocol import Embedder
from knowledge.embedding.spending import paid_by
from knowledge.errors import EmbeddingFailed
from knowledge.models import SearchRecord
from knowledge.text.normalising import match_key
from knowledge.text.speech import prepare_for_embedding
from tenants.isolation import organization_context

LOOKS_BACK: Final = timedelta(days=30)
MOST_RECORDS: Final = 5_000
MOST_QUESTIONS: Final = 400
EMBEDDED_AT_ONCE: Final = 64
DEADLINE_S: Final = 20.0
# A question joins the group whose first question is so near (cosine); measured on paraphrases.
NEAR: Final = 0.93
MOST_BROUGHT: Final = 10
GOLDEN, KNOWLEDGE, NOTHING = "golden", "knowledge", "nothing"


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
class Coverage:
    """Everything that the page shows.

    unused     answers that no caller has heard in this time.
    competing  pairs of answers that came up for the same questions, with how often.
    """

    groups: list[Group]
    unused: list[tuple[str, str]]
    competing: list[tuple[str, str, int]]
    searches: int
    is_grouped: bool


def coverage(organization_id: int, embedder: Embedder, *, at: datetime) -> Coverage:
    """Return what was asked and what answered it.

    Speculative searches count once they were adopted.
    Cost: three statements and a few calls of the embedder; no transaction is open meanwhile.
    """
    with organization_context(organization_id):
        records = _records(organization_id, at=at)
        live = {str(row.pk): title_of(row) for row in _live(organization_id)}
    questions = _questions(records)[:MOST_QUESTIONS]
    with paid_by(organization_id, embedder.space):
        groups, is_grouped = _grouped(questions, embedder)
    heard = {answer for question in questions for answer in question.answers}
    return Coverage(
        groups=sorted(groups, key=lambda group: (-group.times, group.text)),
        unused=sorted((pk, title) for pk, title in live.items() if pk not in heard),
        competing=_competing(questions, live),
        searches=len(records),
        is_grouped=is_grouped,
    )


def _records(organization_id: int, *, at: datetime) -> list[tuple[list[str], list[Any]]]:
    rows = SearchRecord.objects.filter(
        organization_id=organization_id, door="voice", at__gte=at - LOOKS_BACK, at__lte=at
    ).exclude(speculative=True, adopted=False)
    found = rows.values_list("queries", "results")[:MOST_RECORDS]
    return [(queries, results) for queries, results in found if queries]


def _live(organization_id: int) -> Iterable[GoldenAnswer]:
    return GoldenAnswer.objects.filter(
        organization_id=organization_id, kind=AssetKind.ANSWER, published_version__isnull=False
    ).select_related("published_version")


def _questions(records: Sequence[tuple[list[str], list[Any]]]) -> list[Question]:
    texts: dict[str, str] = {}
    times: Counter[str] = Counter()
    answered: dict[str, Counter[str]] = defaultdict(Counter)
    answers: dict[str, set[str]] = defaultdict(set)
    for queries, results in records:
        key = match_key(queries[0])
        texts.setdefault(key, queries[0])
        times[key] += 1
        answered[key][_what(results)] += 1
        answers[key] |= {r["id"] for r in results if r.get("type") == GOLDEN}
    return [
        Question(texts[key], count, dict(answered[key]), frozenset(answers[key]))
        for key, count in sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _what(results: Sequence[Any]) -> str:
    if not results:
        return NOTHING
    return GOLDEN if results[0].get("type") == GOLDEN else KNOWLEDGE


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
