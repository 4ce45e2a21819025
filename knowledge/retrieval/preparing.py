"""Make a question ready before any database connection is held."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from knowledge.embedding.protocol import Embedder, Vector
from knowledge.embedding.spaces import space_key
from knowledge.embedding.spending import paid_by
from knowledge.errors import EmbeddingFailed
from knowledge.passages import CHUNKER_VERSION
from knowledge.retrieval.deadline import Deadline
from knowledge.retrieval.query import understand
from knowledge.retrieval.spelled import with_codes
from knowledge.retrieval.types import Query, Understood
from knowledge.text.speech import prepare_for_embedding

log = logging.getLogger(__name__)

# The embedding may take this long at most, and must leave this much for the search (seconds).
EMBEDDING_AT_MOST = 4.0
SEARCH_NEEDS = 1.2


def prepare(
    texts: Sequence[str],
    *,
    organization_id: int,
    code_patterns: Sequence[str],
    embedder: Embedder,
    deadline: Deadline,
) -> Understood:
    """Redact, split and embed; when the embedding is late or fails, the lexical leg goes alone."""
    began = time.perf_counter()
    queries = understand(texts, organization_id=organization_id, code_patterns=code_patterns)
    with paid_by(organization_id, embedder.space, is_question=True):
        vectors = _embed(queries, embedder, deadline)
    failed = bool(queries) and vectors is None
    return Understood(
        queries=queries,
        vectors=vectors,
        space_key=space_key(embedder.space, CHUNKER_VERSION),
        degraded=("dense",) if failed else (),
        timings_ms={"embed": round((time.perf_counter() - began) * 1000, 2)},
    )


def _embed(
    queries: Sequence[Query], embedder: Embedder, deadline: Deadline
) -> tuple[Vector, ...] | None:
    if not queries:
        return None
    # With nothing left to wait for, what is remembered is still there at once.
    budget = max(0.0, min(EMBEDDING_AT_MOST, deadline.remaining() - SEARCH_NEEDS))
    try:
        texts = [prepare_for_embedding(with_codes(query.text)) for query in queries]
        return tuple(embedder.embed_queries(texts, deadline_s=budget))
    except EmbeddingFailed as failure:
        log.warning("embedding_failed", extra={"code": failure.code})
        return None
