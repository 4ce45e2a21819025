"""An embedder of the tests: words fall into a few buckets; it counts what it is asked and fails on demand.

tests/contract/test_embedders.py holds it to what every embedder promises.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from knowledge.embedding.protocol import SpaceSpec, Vector
from knowledge.errors import EmbeddingTimeout

DIMENSIONS = 16


@dataclass
class CountingEmbedder:
    """`before` runs in each call, with its texts, and may raise what a provider would."""

    model: str = "buckets"
    before: Callable[[Sequence[str]], None] = lambda _texts: None
    asked: Counter[str] = field(default_factory=Counter)
    calls: list[int] = field(default_factory=list)

    @property
    def space(self) -> SpaceSpec:
        return SpaceSpec(provider="tests", model=self.model, dimensions=DIMENSIONS)

    @property
    def paid_twice(self) -> list[str]:
        return [text for text, times in self.asked.items() if times > 1]

    def embed_queries(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        return self.embed_passages(texts, deadline_s=deadline_s)

    def embed_passages(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        if deadline_s <= 0:
            raise EmbeddingTimeout
        self.calls.append(len(texts))
        self.before(texts)
        self.asked.update(texts)
        return [_vector(text) for text in texts]

    def token_count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]


def _vector(text: str) -> Vector:
    counts = np.full(DIMENSIONS, 0.01, dtype=np.float32)
    for word in text.casefold().split():
        counts[hashlib.sha256(word.encode("utf-8", "replace")).digest()[0] % DIMENSIONS] += 1
    return counts / np.linalg.norm(counts)
