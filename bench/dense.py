"""The dense leg behind every gate, beside others on the same vectors and the same allowed rows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from bench.asking import VARIANTS, questions
from bench.engines import Earmark, Engine, Loopback
from bench.loading import Loaded, forget_old, loaded
from bench.measuring import WARM_UP, Cell, timings
from bench.parts import Options, Outcome
from bench.picture import PICTURE, picture
from bench.scopes import Scope, scope_of
from tenants.isolation import organization_context

# None is the whole organization: everything there is, or the 40 % that the largest one holds.
WHOLE: tuple[tuple[str, float | None], ...] = (("100 %", None),)
SHARES = (("40 %", None), ("10 %", 0.1), ("1 %", 0.01), ("0.1 %", 0.001))
MANY = 50
# What is promised of passages from here on; in the smallest corpora everything takes no time.
MEANT_FOR: Final = 100_000
NARROW: Final = ("10 %", "1 %", "0.1 %")
# Haystack needs a call for each wording. With a single one, a tenth of a corpus is pages to be read rather
# than statements to be sent, and our gates read as many again.
MOST_OF_HAYSTACK: Final = 0.1
MOST_OF_ONE_CALL: Final = 0.2
# Half precision rounds: among a million, two passages may stand in each other's place.
HUGE: Final = 1_000_000
LEAST_RECALL_OF_HUGE: Final = 0.998
# Passages; beyond it, loading the libraries takes longer than anything they would show.
_MOST_FOR_LIBRARIES: Final = 100_000


def measure(options: Options) -> Outcome:
    """Print a table for each size."""
    forget_old()
    cells = [cell for passages in options.sizes for cell in _size(passages, options)]
    if os.environ.get("PICTURE") == "write":
        PICTURE.write_text(picture(cells), "utf-8")
    return Outcome({"cells": [asdict(cell) for cell in cells]}, tuple(_faults(cells)))


def _size(passages: int, options: Options) -> Iterator[Cell]:
    for organizations, shares in ((1, WHOLE), (MANY, SHARES)):
        began = time.monotonic()
        corpus = loaded(passages, organizations=organizations, peers=options.peers)
        engines = _engines(corpus, options)
        ready = f"ready in {time.monotonic() - began:.0f} s"
        print(f"\n{passages:,} passages, {organizations} organization(s), {ready}")
        print(f"{'':28}" + "".join(f"{engine.name:>24}" for engine in engines))
        for name, share in shares:
            yield from _cells(corpus, scope_of(corpus, name, share), engines, options)


def _engines(corpus: Loaded, options: Options) -> list[Engine]:
    engines: list[Engine] = [Loopback(), Earmark()]
    if options.peers:
        from bench.haystack import Haystack

        engines.append(Haystack(corpus))
        if len(corpus.made.vectors) <= _MOST_FOR_LIBRARIES:
            from bench.peers import Faiss, QdrantEdge

            engines += [QdrantEdge(corpus), Faiss(corpus)]
    return engines


def _cells(
    corpus: Loaded, scope: Scope, engines: Sequence[Engine], options: Options
) -> Iterator[Cell]:
    count = options.questions + WARM_UP
    for on_topic in (True, False):
        asked = questions(corpus.made, scope.rows, on_topic=on_topic, count=count)
        for queries in (1, VARIANTS):
            with organization_context(corpus.organizations[0], snapshot=True):
                measured = timings(scope, asked, engines, queries)
            passages = len(corpus.made.vectors)
            cell = Cell(passages, scope.name, len(scope.rows), on_topic, queries, measured)
            print(_line(cell), flush=True)
            yield cell


def _line(cell: Cell) -> str:
    ours = cell.timings["earmark"].p50
    columns = []
    for timing in cell.timings.values():
        recall = "" if timing.recall is None else f" r={timing.recall:.3f}"
        times = f"{timing.p50:.2f}/{timing.p95:.1f}"
        columns.append(f"{times}{recall} x{timing.p50 / ours:.2f}".rjust(24))
    return f"{cell.name} {cell.allowed:8}" + "".join(columns)


def _faults(cells: Sequence[Cell]) -> Iterator[str]:
    for cell in cells:
        ours = cell.timings["earmark"]
        least = 1.0 if cell.passages < HUGE else LEAST_RECALL_OF_HUGE
        if ours.recall is None or ours.recall < least:
            yield f"{cell.passages:,} {cell.name}: recall {ours.recall}, and less than {least}."
        for name, most in _promised(cell).items():
            ratio = ours.p50 / cell.timings[name].p50 if name in cell.timings else 0.0
            if ratio > most:
                yield f"{cell.passages:,} {cell.name}: {ratio:.2f} times {name}'s time, {most} at most."


def _promised(cell: Cell) -> dict[str, float]:
    """Return how many times another engine's time a cell may take."""
    if cell.passages < MEANT_FOR:
        return {}
    promised = {}
    if cell.scope in NARROW:
        is_one_call = cell.scope == NARROW[0] and cell.queries == 1
        promised["haystack"] = MOST_OF_ONE_CALL if is_one_call else MOST_OF_HAYSTACK
    if cell.scope in NARROW[1:] and cell.queries == 1:
        promised["qdrant"] = 3.0
    return promised
