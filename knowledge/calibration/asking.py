"""The questions a corpus is measured with: its own titles, and general ones about something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np

from knowledge.calibration.bank import LANGUAGES, questions
from knowledge.calibration.corpus import sampled_titles
from knowledge.calibration.scoring import Array
from knowledge.calibration.shipped import shipped_vectors
from knowledge.embedding.protocol import Embedder, SpaceSpec
from knowledge.indexing.embedded import MOST_TEXTS
from knowledge.models import EmbeddingSpace
from knowledge.retrieval.query import understand
from knowledge.retrieval.types import Query
from knowledge.text.speech import prepare_for_embedding

QUERY_DEADLINE_S: Final = 30.0
# The bank never changes while a process runs, and costs as much as everything else together.
_bank_vectors: Final[dict[SpaceSpec, dict[str, Array]]] = {}


@dataclass(frozen=True)
class Question:
    """A question to score, and where it comes from: a language of the bank, or an asset's title."""

    text: str
    query: Query
    bank: str | None = None
    owner: UUID | None = None


def asked_of(organization_id: int, space: EmbeddingSpace) -> list[Question]:
    """Return the titles of an organization, then every question of the bank."""
    titled = [
        Question(title, query, owner=asset)
        for asset, title in sampled_titles(organization_id, space)
        for query in understand([title], organization_id=organization_id)
    ]
    general = [
        Question(text, query, bank=language)
        for language in LANGUAGES
        for text in questions(language)
        for query in understand([text], organization_id=organization_id)
    ]
    return titled + general


def embedded(asked: Sequence[Question], embedder: Embedder) -> Array:
    """Return their vectors, in the order in which they were asked.

    Raises: EmbeddingFailed
    """
    known = _bank_vectors.setdefault(embedder.space, {})
    new = [question.text for question in asked if question.bank and question.text not in known]
    known.update(shipped_vectors(new, embedder.space))
    new = [text for text in new if text not in known]
    known.update(zip(new, _queries(new, embedder), strict=True))
    titles = _queries([question.text for question in asked if question.owner], embedder)
    vectors = [*titles, *(known[question.text] for question in asked if question.bank)]
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
