"""Haystack's pgvector retriever on the same server, set up as its documentation says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import psycopg
from haystack.utils import Secret
from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

from bench.asking import K
from bench.data import DIMENSIONS, Floats
from bench.loading import Loaded
from bench.scopes import Scope
from config.provision import OWNER
from config.scratch import address

_FILL = """
INSERT INTO haystack_documents (id, embedding, content, meta)
SELECT v.asset_id || ':' || v.position, v.embedding, substr(i.body, v.position * 700 + 1, 700),
       jsonb_build_object('organization', i.organization_id, 'folder', i.folder_key, 'item', i.id,
         'open', i.review_status = 'approved' AND i.visibility = 'public' AND NOT i.channel_restricted
           AND i.valid_until IS NULL AND i.deleted_at IS NULL)
  FROM knowledge_vector v JOIN knowledge_item i ON i.id = v.asset_id
"""


class Haystack:
    """PgvectorEmbeddingRetriever, exact."""

    name = "haystack"

    def __init__(self, loaded: Loaded) -> None:
        self._retriever = PgvectorEmbeddingRetriever(document_store=store(loaded.database), top_k=K)

    def search(self, vectors: Sequence[Floats], scope: Scope) -> list[Floats]:
        """One call for each vector: it takes no more."""
        return [self._one(vector, scope) for vector in vectors]

    def _one(self, vector: Floats, scope: Scope) -> Floats:
        found = self._retriever.run(query_embedding=vector.tolist(), filters=scope.filter)
        return np.array([document.score for document in found["documents"]], dtype=np.float32)


def fill(database: str, connection: psycopg.Connection) -> None:
    """Copy every passage into Haystack's table."""
    store(database).count_documents()
    with connection.transaction():
        connection.execute("TRUNCATE haystack_documents")
        connection.execute(_FILL)
    connection.execute("VACUUM ANALYZE haystack_documents")


def store(database: str) -> PgvectorDocumentStore:
    """Return Haystack's store in that database, as its documentation sets it up."""
    return PgvectorDocumentStore(
        connection_string=Secret.from_token(address(database, OWNER)),
        create_extension=False,
        embedding_dimension=DIMENSIONS,
        vector_type="halfvec",
        vector_function="inner_product",
        search_strategy="exact_nearest_neighbor",
    )
