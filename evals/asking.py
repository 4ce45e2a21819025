"""Asks a set's questions through the real pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from evals.corpora import AT, agent, organization
from evals.sets import Asked, Question
from knowledge.embedding.protocol import Embedder
from knowledge.retrieval.deadline import Deadline
from knowledge.retrieval.pipeline import retrieve
from knowledge.retrieval.policy import DEFAULT_POLICY, RetrievalPolicy
from knowledge.retrieval.preparing import prepare
from knowledge.retrieval.types import Allowlist, Answer, SearchStatus
from scopes.resolution import allowlist_for
from tenants.isolation import organization_context

LIMIT = 10
PATIENCE_S = 600.0


def ask_all(
    questions: Sequence[Question],
    documents: dict[UUID, str],
    embedder: Embedder,
    policy: RetrievalPolicy = DEFAULT_POLICY,
) -> Iterator[Asked]:
    """Ask every question in each of its ways."""
    asked = organization()
    with organization_context(asked.pk):
        everything = allowlist_for(agent(asked), contact=None, channel="phone", country=None, at=AT)
    for question in questions:
        for way, texts in question.ways.items():
            answer = _answer(texts, everything, embedder, policy)
            yield _noted(question, way, answer, documents)


def _answer(
    texts: Sequence[str], everything: Allowlist, embedder: Embedder, policy: RetrievalPolicy
) -> Answer:
    understood = prepare(
        texts,
        organization_id=everything.organization_id,
        code_patterns=(),
        embedder=embedder,
        deadline=Deadline.after(PATIENCE_S),
    )
    with organization_context(everything.organization_id, snapshot=True):
        return retrieve(understood, everything, limit=LIMIT, policy=policy)


def _noted(question: Question, way: str, answer: Answer, documents: dict[UUID, str]) -> Asked:
    ranked = answer.ranked
    return Asked(
        question=question,
        way=way,
        ranking=tuple(documents[row.asset_id] for row in ranked),
        answered=answer.status is SearchStatus.OK,
        relevance=max((row.relevance for row in ranked), default=0.0),
    )
