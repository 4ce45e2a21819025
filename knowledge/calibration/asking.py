"""The questions a corpus is measured with: imitated ones it answers, and general ones about something else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

import numpy as np

from knowledge.calibration.bank import LANGUAGES, questions
from knowledge.calibration.corpus import Sampled, sampled
from knowledge.calibration.scoring import Array
from knowledge.calibration.shipped import shipped_vectors
from knowledge.embedding.protocol import Embedder, SpaceSpec
from knowledge.indexing.embedded import MOST_TEXTS
from knowledge.models import EmbeddingSpace
from knowledge.retrieval.query import understand
from knowledge.retrieval.types import Query
from knowledge.text.sentences import sentence_ends
from knowledge.text.speech import prepare_for_embedding

# Shorter is a label, longer is no question (characters).
SENTENCE: Final = (25, 160)
Imitated = Literal["sentence", "phrasing"]
QUERY_DEADLINE_S: Final = 30.0
# The bank never changes while a process runs, and costs as much as everything else together.
_bank_vectors: Final[dict[SpaceSpec, dict[str, Array]]] = {}


@dataclass(frozen=True)
class Question:
    """A question to score: of a language of the bank, or imitated from the corpus.

    A phrasing of a golden answer is asked as if the answer did not have it: `owner` is that answer.
    """

    text: str
    query: Query
    bank: str | None = None
    imitates: Imitated | None = None
    owner: UUID | None = None


def asked_of(organization_id: int, space: EmbeddingSpace) -> list[Question]:
    """Return imitated questions of an organization, then every question of the bank."""
    imitated = [
        question
        for item in sampled(organization_id, space)
        for question in _imitated(item, organization_id)
    ]
    general = [
        Question(text, query, bank=language)
        for language in LANGUAGES
        for text in questions(language)
        for query in understand([text], organization_id=organization_id)
    ]
    return imitated + general


def _imitated(item: Sampled, organization_id: int) -> Iterator[Question]:
    texts = [item.title, *item.phrasings] if item.phrasings else _sentences(item.passage)
    if not texts:
        return
    text = texts[_drawn(item, len(texts))]
    for query in understand([text], organization_id=organization_id):
        if item.phrasings:
            yield Question(text, query, imitates="phrasing", owner=item.asset)
        else:
            yield Question(text, query, imitates="sentence")


def _drawn(item: Sampled, count: int) -> int:
    # By what it says, since ids differ between installations of one corpus.
    digest = hashlib.sha256(f"{item.title}\n{item.passage}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") % count


def _sentences(passage: str) -> list[str]:
    ends = sentence_ends(passage)
    parts = [passage[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    lines = [line.strip() for part in parts for line in part.splitlines()]
    return [line for line in lines if SENTENCE[0] <= len(line) <= SENTENCE[1]]


def embedded(asked: Sequence[Question], embedder: Embedder) -> Array:
    """Return their vectors, in the order in which they were asked.

    Raises: EmbeddingFailed
    """
    known = _bank_vectors.setdefault(embedder.space, {})
    new = [question.text for question in asked if question.bank and question.text not in known]
    known.update(shipped_vectors(new, embedder.space))
    new = [text for text in new if text not in known]
    known.update(zip(new, _queries(new, embedder), strict=True))
    imitated = _queries([question.text for question in asked if question.imitates], embedder)
    vectors = [*imitated, *(known[question.text] for question in asked if question.bank)]
    return np.array(vectors, dtype=np.float32).reshape(len(vectors), -1)


def _queries(texts: Sequence[str], embedder: Embedder) -> list[Array]:
    prepared = [prepare_for_embedding(text) for text in texts]
    return [
        vector
        for start in range(0, len(prepared), MOST_TEXTS)
        for vector in embedder.embed_queries(
            prepared[start : start + MOST_TEXTS], deadline_s=QUERY_DEADLINE_S
        )
    ]
