"""Scores many questions against a whole corpus at once, as a search would; numpy only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt

from knowledge.calibration.corpus import Block, Place
from knowledge.retrieval.policy import RetrievalPolicy

NOWHERE: Final = -2.0
Array = npt.NDArray[np.float32]


@dataclass
class Scores:
    """What questions reach in a corpus.

    Shape: one entry for each question. `best` and `places` leave out the question's own asset,
           `own` and `own_places` are of that asset alone.
           `middle` is the mean of all passages, (dimensions,).
    Units: cosine, the title's mixed in as fusion does it; `mean` and `deviation` are those of the
           passages' own cosine within a question.
    """

    best: Array
    places: list[Place | None]
    own: Array
    own_places: list[Place | None]
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
        np.full(count, NOWHERE, np.float32), [None] * count, np.zeros(count, np.float32),
        np.zeros(count, np.float32), np.zeros(questions.shape[1], np.float32),
    )  # fmt: skip
    sums = _Sums(0, np.zeros(questions.shape[1]), np.zeros(count), np.zeros(count))
    for block in corpus:
        cosines = block.vectors @ questions.T
        body = block.positions >= 0
        _add(sums, block.vectors[body], cosines[body])
        mixed = _mixed(block, cosines, policy)
        mixed[~body] = NOWHERE
        _keep_best(scores, mixed, block, owners)
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
    """Mix the nearest title or phrasing of each row's asset in, by the policy's weights.

    An asset without a title is given the mean of the others' for each question, as fusion does.
    """
    starts = [i for i, asset in enumerate(block.assets) if i == 0 or asset != block.assets[i - 1]]
    titled = np.where((block.positions < 0)[:, None], cosines, NOWHERE)
    nearest = np.maximum.reduceat(titled, starts, axis=0)
    lengths = np.diff([*starts, len(block.assets)])
    known = nearest > NOWHERE
    if not known.any():
        return cosines
    usual = nearest.mean(axis=0, where=known)
    titles = np.repeat(np.where(known, nearest, usual), lengths, axis=0)
    weights = np.where(block.golden, policy.golden_title_weight, policy.title_weight)[:, None]
    mixed: Array = ((cosines + weights * titles) / (1 + weights)).astype(np.float32)
    return mixed


def _keep_best(scores: Scores, mixed: Array, block: Block, owners: list[UUID | None]) -> None:
    rows_of: dict[UUID, list[int]] = {}
    for row, asset in enumerate(block.assets):
        rows_of.setdefault(asset, []).append(row)
    for question, owner in enumerate(owners):
        rows = rows_of.get(owner) if owner else None
        if rows:
            row = rows[int(np.argmax(mixed[rows, question]))]
            if mixed[row, question] > scores.own[question]:
                scores.own[question] = mixed[row, question]
                scores.own_places[question] = (block.assets[row], int(block.positions[row]))
            mixed[rows, question] = NOWHERE
    _keep_others(scores, mixed, block)


def _keep_others(scores: Scores, mixed: Array, block: Block) -> None:
    rows = np.argmax(mixed, axis=0)
    values = mixed[rows, np.arange(mixed.shape[1])]
    for question in np.flatnonzero(values > scores.best):
        row = int(rows[question])
        scores.best[question] = values[question]
        scores.places[question] = (block.assets[row], int(block.positions[row]))
