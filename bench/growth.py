"""Whether a scope of a thousand passages takes longer when the corpus around it grows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from bench.asking import Asked, questions
from bench.dense import MANY
from bench.engines import Earmark
from bench.loading import Loaded, loaded
from bench.measuring import WARM_UP
from bench.parts import Options, Outcome
from bench.scopes import Scope, scope_of
from tenants.isolation import organization_context

IN_SCOPE: Final = 1_000
MOST: Final = 1.5
_TURNS: Final = 4


@dataclass(frozen=True)
class Corpus:
    """A corpus with a connection of its own, so that two can be asked in turns."""

    passages: int
    loaded: Loaded
    scope: Scope
    asked: Sequence[Asked]
    engine: Earmark
    connection: BaseDatabaseWrapper


def measure(options: Options) -> Outcome:
    """Ask the smallest and the largest corpus in turns; print medians and their ratio."""
    small, large = (_opened(size, options) for size in (min(options.sizes), max(options.sizes)))
    times = {corpus.passages: [] for corpus in (small, large)}  # type: dict[int, list[float]]
    for turn in range(_TURNS * options.questions + WARM_UP):
        for corpus in (small, large):
            taken = _search(corpus, turn)
            if turn >= WARM_UP:
                times[corpus.passages].append(taken)
    medians = {passages: round(float(np.median(taken)), 3) for passages, taken in times.items()}
    ratio = round(medians[large.passages] / medians[small.passages], 2)
    told = ", ".join(f"{ms} ms among {passages:,}" for passages, ms in medians.items())
    print(f"{len(small.scope.rows)} and {len(large.scope.rows)} passages: {told}, ratio {ratio}")
    fault = f"A fixed scope takes {ratio} times as long in the larger corpus."
    return Outcome({"medians": medians, "ratio": ratio}, (fault,) if ratio >= MOST else ())


def _opened(passages: int, options: Options) -> Corpus:
    corpus = loaded(passages, organizations=MANY)
    share = min(0.1, IN_SCOPE / passages)
    scope = scope_of(corpus, f"{share * 100:g} %", share)
    count = options.questions + WARM_UP
    asked = questions(corpus.made, scope.rows, on_topic=True, count=count)
    # The next corpus gets another connection, this one keeps its own.
    kept = connections["default"]
    kept.settings_dict = dict(kept.settings_dict)
    engine = Earmark()
    connections["default"] = connections.create_connection("default")
    return Corpus(passages, corpus, scope, asked, engine, kept)


def _search(corpus: Corpus, turn: int) -> float:
    vector = corpus.asked[turn % len(corpus.asked)].vectors[0]
    with _through(corpus.connection):
        began = time.perf_counter()
        with organization_context(corpus.loaded.organizations[0], snapshot=True):
            corpus.engine.search([vector], corpus.scope)
        return (time.perf_counter() - began) * 1000


@contextmanager
def _through(connection: BaseDatabaseWrapper) -> Iterator[None]:
    before = connections["default"]
    connections["default"] = connection
    try:
        yield
    finally:
        connections["default"] = before
