"""Runs a set: its corpora one after the other, its questions on every core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import django
from django.db import connections

from config.private import home
from evals.sets import Asked, EvalSet, read_set

if TYPE_CHECKING:
    from evals.vectors import KeptEmbedder

# More pieces than processes, so that none waits long for the last.
_PIECES = 6
FUSIONS = ("score_sum", "reciprocal_rank")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Order:
    """Which set to run, from where, and how much of it."""

    folder: Path
    name: str
    sample: int = 0

    def read(self) -> EvalSet:
        """Return the set."""
        return read_set(self.folder, self.name, sample=self.sample)


def set_up() -> None:
    """Make Django ready in this process; whatever needs it is imported afterwards."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evals.settings")
    django.setup()


@contextmanager
def crew() -> Iterator[ProcessPoolExecutor]:
    """Give one process for each core."""
    context = get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context, initializer=set_up) as pool:
        yield pool


def make_corpora(order: Order, progress: Progress) -> None:
    """See to it that the corpora of a set are there, written and indexed."""
    from evals.corpora import open_corpus

    for view in order.read().views:
        open_corpus(view, kept_embedder(), progress)
    connections.close_all()


def ask_set(order: Order, pool: ProcessPoolExecutor) -> list[Asked]:
    """Return every answer to a set whose corpora are there."""
    views = range(len(order.read().views))
    parts = [(order, view, piece) for view in views for piece in range(_PIECES)]
    return [one for answers in pool.map(_ask_part, parts) for one in answers]


def _ask_part(part: tuple[Order, int, int]) -> list[Asked]:
    from evals.asking import ask_all
    from evals.corpora import open_corpus
    from knowledge.retrieval.policy import DEFAULT_POLICY

    order, number, piece = part
    view = order.read().views[number]
    documents = open_corpus(view, kept_embedder(), lambda _done, _of: None)
    policy = replace(DEFAULT_POLICY, fusion=fusion() or DEFAULT_POLICY.fusion)
    return list(ask_all(view.questions[piece::_PIECES], documents, kept_embedder(), policy))


def fusion() -> Literal["score_sum", "reciprocal_rank"] | None:
    """Return the fusion that the environment asks for, to compare; None is the product's own."""
    wanted = os.environ.get("FUSION")
    if wanted and wanted not in FUSIONS:
        raise SystemExit(f"FUSION is one of {', '.join(FUSIONS)}: not {wanted}.")
    return cast(Literal["score_sum", "reciprocal_rank"] | None, wanted or None)


@cache
def kept_embedder() -> KeptEmbedder:
    """Return the embedder that the settings ask for, with what earlier runs have embedded."""
    from evals.vectors import KeptEmbedder
    from knowledge.embedding.selection import current_embedder

    return KeptEmbedder(current_embedder().embedder, home() / "eval-cache")
