"""The local embedder beside the engine that its weights are shipped with: tokens a second, and the cosine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from bench.parts import Options, Outcome
from knowledge.embedding.local import CHECKOUT_CACHE
from knowledge.embedding.measure import Run, measured, mixed_texts, table
from knowledge.embedding.preparation import fast_engine
from knowledge.embedding.shipped import ShippedEngine

# Promises: so many times as fast, with vectors that are as good as equal.
LEAST_TIMES: Final = 4.0
LEAST_COSINE: Final = 0.999


@dataclass(frozen=True)
class Beside:
    """Both engines on the same texts with one thread each, taking turns.

    Units: tokens a second; cosines of their vectors of the same text.
    """

    tokens: int
    shipped: float
    fast: float
    times: float
    least_cosine: float
    mean_cosine: float


def measure(_options: Options) -> Outcome:
    """Print both."""
    runs = measured(
        [lambda: ShippedEngine(1), lambda: fast_engine(threads=1, cache_dir=CHECKOUT_CACHE)],
        texts := mixed_texts(),
    )
    tokens = sum(map(runs[1].engine.token_count, texts))
    print(*table(runs, tokens), sep="\n", flush=True)
    found = _beside(runs[0], runs[1], tokens)
    return Outcome(asdict(found), tuple(_faults(found)))


def _beside(shipped: Run, fast: Run, tokens: int) -> Beside:
    cosines = (shipped.unit_vectors * fast.unit_vectors).sum(axis=1)
    return Beside(
        tokens,
        round(tokens / shipped.seconds, 1),
        round(tokens / fast.seconds, 1),
        round(shipped.seconds / fast.seconds, 2),
        round(float(cosines.min()), 5),
        round(float(cosines.mean()), 5),
    )


def _faults(found: Beside) -> list[str]:
    faults = []
    if found.times < LEAST_TIMES:
        faults.append(f"The local embedder is {found.times} times as fast as shipped, not 4.")
    if found.least_cosine < LEAST_COSINE:
        faults.append(f"A vector's cosine to the shipped engine's is {found.least_cosine}.")
    return faults
