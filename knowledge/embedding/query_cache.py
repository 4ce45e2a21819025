"""Vectors of questions asked a moment ago; people repeat themselves, and agents even more."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client import Counter

from knowledge.embedding.protocol import Embedder, SpaceSpec, Vector

MOST_VECTORS = 10_000
ASKED: Final = Counter(
    "earmark_query_vectors", "Vectors of queries, by whether they were remembered.", ["found"]
)
_HIT, _MISS = ASKED.labels("remembered"), ASKED.labels("new")


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """How often a query's vector was there."""

    hits: int
    misses: int


class QueryCache:
    """Least recently used vectors go first; keys are the space and a hash of the text, whoever asks.

    The text is what is embedded, already prepared: no other spelling of it may be given its vector. No
    text is held, neither what callers said nor a title that a corpus is measured with.
    Cost: about 2 kB for each vector of 384 dimensions.
    """

    def __init__(self, most: int = MOST_VECTORS) -> None:
        self._most = most
        self._vectors: OrderedDict[tuple[str, bytes], Vector] = OrderedDict()
        self._hits = self._misses = 0
        self._lock = threading.Lock()

    @property
    def counts(self) -> CacheCounts:
        """Hits and misses since the start."""
        with self._lock:
            return CacheCounts(self._hits, self._misses)

    def get(self, space: SpaceSpec, text: str) -> Vector | None:
        """The vector, or None."""
        key = _key(space, text)
        with self._lock:
            vector = self._vectors.get(key)
            if vector is None:
                self._misses += 1
                _MISS.inc()
                return None
            self._hits += 1
            _HIT.inc()
            self._vectors.move_to_end(key)
            return vector

    def put(self, space: SpaceSpec, text: str, vector: Vector) -> None:
        """Keeps a vector, which nobody may change from now on."""
        vector.flags.writeable = False
        key = _key(space, text)
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)

    def __len__(self) -> int:
        """How many vectors are kept."""
        with self._lock:
            return len(self._vectors)

    def clear(self) -> None:
        """Forget every vector, as their space has gone; the counts go on."""
        with self._lock:
            self._vectors.clear()


def _key(space: SpaceSpec, text: str) -> tuple[str, bytes]:
    hashed = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
    return space.fingerprint, hashed.digest()


class CachedEmbedder:
    """An `Embedder` that looks queries up first and asks once for what is new. Passages go through."""

    def __init__(self, embedder: Embedder, cache: QueryCache) -> None:
        self.embedder = embedder
        self.cache = cache

    @property
    def space(self) -> SpaceSpec:
        """The space of the embedder behind."""
        return self.embedder.space

    def embed_queries(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what people ask, remembered or new."""
        unique = list(dict.fromkeys(texts))
        found = {text: self.cache.get(self.space, text) for text in unique}
        vectors = {text: vector for text, vector in found.items() if vector is not None}
        missing = [text for text in unique if text not in vectors]
        if missing:
            fresh = self.embedder.embed_queries(missing, deadline_s=deadline_s)
            for text, vector in zip(missing, fresh, strict=True):
                self.cache.put(self.space, text, vector)
                vectors[text] = vector
        return [vectors[text] for text in texts]

    def embed_passages(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what is searched."""
        return self.embedder.embed_passages(texts, deadline_s=deadline_s)

    def token_count(self, texts: Sequence[str]) -> list[int]:
        """As the embedder behind counts."""
        return self.embedder.token_count(texts)
