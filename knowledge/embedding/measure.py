"""Both local engines side by side: `python -m knowledge.embedding.measure [--threads 1] [--texts FILE]`.

The engines take turns batch by batch, so that a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from knowledge.embedding.local import CHECKOUT_CACHE, Engine
from knowledge.embedding.preparation import fast_engine
from knowledge.embedding.samples import CALIBRATION, CHECK
from knowledge.embedding.shipped import ShippedEngine

BATCH = 8
QUERIES = 20
SEED = 7
# Texts made of the sample sentences: how many, and of how many characters.
MIX = ((24, 60), (24, 250), (16, 1000))


@dataclass
class Run:
    """What one engine did."""

    engine: Engine
    load_s: float
    seconds: float = 0.0
    queries_ms: list[float] = field(default_factory=list)
    vectors: list[np.ndarray] = field(default_factory=list)

    @property
    def unit_vectors(self) -> np.ndarray:
        """All vectors, in order."""
        rows = np.concatenate(self.vectors).astype(np.float64)
        scaled: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return scaled


def mixed_texts() -> list[str]:
    """Short, middle and long texts, several scripts in each, none above 512 tokens."""
    chance = random.Random(SEED)  # noqa: S311 - repeatable, not secret
    return [
        " ".join(chance.choices(CALIBRATION + CHECK, k=size // 20))[:size]
        for count, size in MIX
        for _ in range(count)
    ]


def measured(engines: Sequence[Callable[[], Engine]], texts: Sequence[str]) -> list[Run]:
    """Runs of all engines over all texts."""
    runs = [_loaded(make) for make in engines]
    for start in range(0, len(texts), BATCH):
        for run in runs:
            run.seconds += _timed(run, texts[start : start + BATCH])
    for number in range(QUERIES):
        for run in runs:
            run.queries_ms.append(_query_ms(run.engine, f"how do i change order {number}?"))
    return runs


def table(runs: Sequence[Run], tokens: int) -> Iterator[str]:
    """A line for each engine; cosines are to the first one."""
    yield "| engine | tokens/s | times | one query, ms | load, s | least cosine | mean cosine |"
    yield "|---|---|---|---|---|---|---|"
    first = runs[0]
    for run in runs:
        cosine = (run.unit_vectors * first.unit_vectors).sum(axis=1)
        yield (
            f"| {run.engine.name} | {tokens / run.seconds:,.0f} | {first.seconds / run.seconds:.1f} "
            f"| {statistics.median(run.queries_ms):.1f} | {run.load_s:.2f} "
            f"| {cosine.min():.5f} | {cosine.mean():.5f} |"
        )


def _loaded(make: Callable[[], Engine]) -> Run:
    began = time.perf_counter()
    run = Run(make(), time.perf_counter() - began)
    run.engine.embed(CHECK[:2], "passage", _nothing)
    return run


def _timed(run: Run, texts: Sequence[str]) -> float:
    began = time.perf_counter()
    run.vectors.append(run.engine.embed(texts, "passage", _nothing))
    return time.perf_counter() - began


def _query_ms(engine: Engine, text: str) -> float:
    began = time.perf_counter()
    engine.embed([text], "query", _nothing)
    return (time.perf_counter() - began) * 1000


def _nothing() -> None:
    pass


def main() -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--texts", type=Path, help="a file with one text on each line")
    parser.add_argument("--cache-dir", type=Path, default=CHECKOUT_CACHE)
    options = parser.parse_args()
    texts = options.texts.read_text().splitlines() if options.texts else mixed_texts()
    threads, folder = options.threads, options.cache_dir
    runs = measured(
        [lambda: ShippedEngine(threads), lambda: fast_engine(threads=threads, cache_dir=folder)],
        texts,
    )
    tokens = sum(map(runs[1].engine.token_count, texts))
    heading = f"{len(texts)} texts, {tokens:,} tokens, {threads} thread(s)"
    sys.stdout.write("\n".join([heading, "", *table(runs, tokens), ""]))


if __name__ == "__main__":
    main()
