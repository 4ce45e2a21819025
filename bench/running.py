"""Runs every cell of every size, prints, and holds the figures to what they must be."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.asking import VARIANTS, questions
from bench.engines import Earmark, Engine, Haystack, Loopback
from bench.loading import Loaded, forget_old, loaded
from bench.measuring import WARM_UP, Cell, timings
from bench.peers import Faiss, QdrantEdge
from bench.picture import PICTURE, picture
from bench.scopes import Scope, scope_of
from bench.whole import steps
from tenants.isolation import organization_context

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000}
# None is the whole organization: everything there is, or the 40 % that the largest one holds.
WHOLE: tuple[tuple[str, float | None], ...] = (("100 %", None),)
SHARES = (("40 %", None), ("10 %", 0.1), ("1 %", 0.01), ("0.1 %", 0.001))
MANY = 50
Steps = dict[str, float]


def main() -> int:
    """Print a table for each size; 1 when recall is not 1 or a cell is slower than Haystack's."""
    names = (os.environ.get("SIZE") or "10k,100k").split(",")
    if unknown := [name for name in names if name not in SIZES]:
        print(f"SIZE is one of {', '.join(SIZES)}, or several with commas: not {unknown[0]}.")
        return 2
    forget_old()
    cells: list[Cell] = []
    searches: dict[str, Steps] = {}
    for name in names:
        _run(SIZES[name], cells, searches)
    _write(cells, searches)
    faults = list(_faults(cells))
    print(*faults, sep="\n")
    return 1 if faults else 0


def _run(passages: int, cells: list[Cell], searches: dict[str, Steps]) -> None:
    for organizations, shares in ((1, WHOLE), (MANY, SHARES)):
        began = time.monotonic()
        corpus = loaded(passages, organizations=organizations)
        engines = _engines(corpus)
        ready = f"ready in {time.monotonic() - began:.0f} s"
        print(f"\n{passages:,} passages, {organizations} organization(s), {ready}")
        print(f"{'':28}" + "".join(f"{engine.name:>24}" for engine in engines))
        for name, share in shares:
            scope = scope_of(corpus, name, share)
            cells += _cells(corpus, scope, engines)
            searches[f"{passages} {name}"] = _whole(corpus, scope)


def _engines(corpus: Loaded) -> list[Engine]:
    peers: list[Engine] = [Loopback(), Earmark(), Haystack(corpus)]
    if corpus.made.items * 10 <= SIZES["100k"]:
        peers += [QdrantEdge(corpus), Faiss(corpus)]
    return peers


def _cells(corpus: Loaded, scope: Scope, engines: Sequence[Engine]) -> Iterator[Cell]:
    for on_topic in (True, False):
        asked = questions(corpus.made, scope.rows, on_topic=on_topic, count=_count())
        for queries in (1, VARIANTS):
            with organization_context(corpus.organizations[0]):
                measured = timings(scope, asked, engines, queries)
            passages = len(corpus.made.vectors)
            cell = Cell(passages, scope.name, len(scope.rows), on_topic, queries, measured)
            print(_line(cell), flush=True)
            yield cell


def _whole(corpus: Loaded, scope: Scope) -> Steps:
    asked = questions(corpus.made, scope.rows, on_topic=True, count=_count())
    found = steps(corpus, scope, asked)
    print(f"  a whole search: {', '.join(f'{name} {ms}' for name, ms in found.items())} ms")
    return found


def _count() -> int:
    return int(os.environ.get("QUESTIONS") or 15) + WARM_UP


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
        ours, theirs = cell.timings["earmark"], cell.timings["haystack"]
        if ours.recall != 1.0:
            yield f"{cell.passages:,} {cell.name}: recall {ours.recall}, and nothing but 1 will do."
        if ours.p50 > theirs.p50:
            yield f"{cell.passages:,} {cell.name}: {ours.p50} ms, and Haystack takes {theirs.p50}."


def _write(cells: Sequence[Cell], searches: dict[str, Steps]) -> None:
    report: dict[str, Any] = {"cells": [asdict(cell) for cell in cells], "searches": searches}
    if out := os.environ.get("OUT"):
        Path(out).write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    if os.environ.get("PICTURE") == "write":
        PICTURE.write_text(picture(cells), "utf-8")
