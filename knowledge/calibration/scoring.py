"""Scores many questions against a whole corpus at once, as a search would; numpy only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt

from knowledge.calibration.corpus import Block, Place
from knowledge.retrieval.fusion import title_weights
from knowledge.retrieval.policy import RetrievalPolicy

NOWHERE: Final = -2.0
Array = npt.NDArray[np.float32]


@dataclass
class Scores:
    """What questions reach in a corpus.

    Shape: one entry for each question. `best` and `places` leave out the asset a question was taken
           from; `own` is what that asset's other phrasings reach.
           `middle` is the mean of all passages, (dimensions,).
    Units: cosine, the title's mixed in as fusion does it; `mean` and `deviation` are those of the
           passages' own cosine within a question.
    """

    best: Array
    places: list[Place | None]
    own: Array
    deviation: Array
    mean: Array
    middle: Array


@dataclass
class _Sums:
    count: int
    vectors: npt.NDArray[np.float64]
    total: npt.NDArray[np.float64]
    squares: npt.NDArray[np.float64]


def score(
    questions: Array, owners: list[UUID | None], corpus: Iterable[Block], policy: RetrievalPolicy
) -> Scores:
    """Return the best passage of the corpus for every question.

    Shape: questions (count, dimensions), unit length; owners name the asset a question came from.
    Cost:  one matrix product for each block.
    """
    count = len(questions)
    scores = Scores(
        np.full(count, NOWHERE, np.float32), [None] * count,
        np.full(count, NOWHERE, np.float32), np.zeros(count, np.float32),
        np.zeros(count, np.float32), np.zeros(questions.shape[1], np.float32),
    )  # fmt: skip
    sums = _Sums(0, np.zeros(questions.shape[1]), np.zeros(count), np.zeros(count))
    for block in corpus:
        cosines = block.vectors @ questions.T
        body = block.positions >= 0
        _add(sums, block.vectors[body], cosines[body])
        mixed = _mixed(block, cosines, policy)
        mixed[~body] = NOWHERE
        _keep_own(scores, cosines, block, owners)
        _leave_out_own(mixed, block, owners)
        _keep_best(scores, mixed, block)
    if sums.count:
        mean = sums.total / sums.count
        spread = np.sqrt(np.maximum(sums.squares / sums.count - mean**2, 0.0))
        scores.deviation, scores.mean = spread.astype(np.float32), mean.astype(np.float32)
        scores.middle = (sums.vectors / sums.count).astype(np.float32)
    return scores


def _add(sums: _Sums, vectors: Array, cosines: Array) -> None:
    sums.count += len(cosines)
    sums.vectors += vectors.sum(axis=0, dtype=np.float64)
    sums.total += cosines.sum(axis=0, dtype=np.float64)
    sums.squares += np.square(cosines, dtype=np.float64).sum(axis=0)


def _mixed(block: Block, cosines: Array, policy: RetrievalPolicy) -> Array:
    """Mix the titles or phrasings of each row's asset in, by the policy's weights.

    An asset without a title is given the mean of the others' for each question, as fusion does.
    """
    starts = [i for i, asset in enumerate(block.assets) if i == 0 or asset != block.assets[i - 1]]
    named = (block.positions < 0)[:, None]
    nearest = np.maximum.reduceat(np.where(named, cosines, NOWHERE), starts, axis=0)
    counts = np.add.reduceat(named, starts, axis=0, dtype=np.float32)
    known = nearest > NOWHERE
    if not known.any():
        return cosines
    every = np.add.reduceat(np.where(named, cosines, 0.0), starts, axis=0) / np.maximum(counts, 1)
    usual = nearest.mean(axis=0, where=known)
    lengths = np.diff([*starts, len(block.assets)])
    nearest, every = (
        np.repeat(np.where(known, found, usual), lengths, axis=0) for found in (nearest, every)
    )
    best, mean = (
        np.where(block.golden, golden, plain)[:, None]
        for golden, plain in zip(
            title_weights(policy, golden=True), title_weights(policy, golden=False), strict=True
        )
    )
    mixed: Array = ((cosines + best * nearest + mean * every) / (1 + best + mean)).astype(
        np.float32
    )
    return mixed


def _keep_own(scores: Scores, cosines: Array, block: Block, owners: list[UUID | None]) -> None:
    """Note what the asset a phrasing was taken from would reach without it: the nearest is itself."""
    for question, rows in _owned(block, owners):
        others = np.sort(cosines[[row for row in rows if block.positions[row] < 0], question])[:-1]
        if len(others):
            scores.own[question] = (others[-1] + others.mean()) / 2


def _leave_out_own(mixed: Array, block: Block, owners: list[UUID | None]) -> None:
    for question, rows in _owned(block, owners):
        mixed[rows, question] = NOWHERE


def _owned(block: Block, owners: list[UUID | None]) -> Iterator[tuple[int, list[int]]]:
    rows_of: dict[UUID, list[int]] = {}
    for row, asset in enumerate(block.assets):
        rows_of.setdefault(asset, []).append(row)
    for question, owner in enumerate(owners):
        if owner is not None and owner in rows_of:
            yield question, rows_of[owner]


def _keep_best(scores: Scores, mixed: Array, block: Block) -> None:
    rows = np.argmax(mixed, axis=0)
    values = mixed[rows, np.arange(mixed.shape[1])]
    for question in np.flatnonzero(values > scores.best):
        row = int(rows[question])
        scores.best[question] = values[question]
        scores.places[question] = (block.assets[row], int(block.positions[row]))
