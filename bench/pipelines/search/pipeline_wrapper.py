"""The same search as a pipeline of Haystack that Hayhooks serves."""

from __future__ import annotations

import json
import os
from typing import Any

from hayhooks import BasePipelineWrapper
from haystack import Pipeline
from haystack.components.embedders import OpenAITextEmbedder
from haystack.utils import Secret
from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

DIMENSIONS = 384
LIMIT = 5


class PipelineWrapper(BasePipelineWrapper):  # type: ignore[misc]
    """Embed the question, find the nearest passages in a scope."""

    def setup(self) -> None:
        """Connect to what the bench has filled."""
        self._filters: dict[str, Any] = json.loads(os.environ["BENCH_FILTERS"])
        store = PgvectorDocumentStore(
            connection_string=Secret.from_token(os.environ["BENCH_DATABASE"]),
            create_extension=False,
            embedding_dimension=DIMENSIONS,
            vector_type="halfvec",
            vector_function="inner_product",
            search_strategy="exact_nearest_neighbor",
        )
        self.pipeline = Pipeline()
        self.pipeline.add_component(
            "embedder",
            OpenAITextEmbedder(model="bench", api_base_url=os.environ["BENCH_EMBEDDER"]),
        )
        self.pipeline.add_component(
            "retriever", PgvectorEmbeddingRetriever(document_store=store, top_k=LIMIT)
        )
        self.pipeline.connect("embedder.embedding", "retriever.query_embedding")

    async def run_api_async(self, query: str, scope: str) -> list[dict[str, Any]]:
        """Answer with the passages found."""
        found = await self.pipeline.run_async(
            {"embedder": {"text": query}, "retriever": {"filters": self._filters[scope]}}
        )
        return [
            {"id": document.id, "content": document.content, "score": document.score}
            for document in found["retriever"]["documents"]
        ]
