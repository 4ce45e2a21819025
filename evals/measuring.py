"""From rankings to figures with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import ir_measures
import numpy as np
import numpy.typing as npt
from ir_measures import RR, P, R, nDCG

from evals.sets import NATIVE, Asked

ALL: Final = "all"
RANKING: Final = {"nDCG@10": nDCG @ 10, "recall@5": R @ 5, "P@1": P @ 1, "MRR@10": RR @ 10}
SIBLING_FIRST: Final = "sibling_first"
RECALL: Final = "no_match_recall"
REFUSAL: Final = "no_match_refusal"
AUROC: Final = "AUROC"
LOWER_IS_BETTER: Final = frozenset({SIBLING_FIRST})
_RESAMPLES: Final = 1_000
_SEED: Final = 20
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A figure with its 95 % bootstrap interval over the questions."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Slice:
    """Some of a set's questions, asked in one way, and what was measured on them."""

    count: int
    figures: dict[str, Figure]


def slices_of(asked: Sequence[Asked], main_way: str) -> dict[str, Slice]:
    """Return the figures of a set by language, by kind of question, and over all.

    Shape: names are a language, "all", or what the set calls a kind of question; a way of asking
           that is not the main one follows after a space.
    """
    groups: dict[str, list[Asked]] = defaultdict(list)
    for one in asked:
        for name in (ALL, one.question.language, *one.question.slices):
            for suffix in _suffixes(one, main_way):
                groups[name + suffix].append(one)
    whole = {suffix: groups[ALL + suffix] for suffix in _all_suffixes(groups)}
    return {
        name: Slice(len(members), figures)
        for name, members in sorted(groups.items())
        if (figures := _figures(members, whole[_suffix_of(name, whole)]))
    }


def _suffixes(one: Asked, main_way: str) -> list[str]:
    """Return under which names an answer counts; a question without the main way is asked plainly."""
    ways = one.question.ways
    is_main = one.way == (main_way if main_way in ways else NATIVE)
    named = [] if one.way == main_way or len(ways) == 1 else [f" {one.way}"]
    return ([""] if is_main else []) + named


def _all_suffixes(groups: Mapping[str, object]) -> list[str]:
    return [name.removeprefix(ALL) for name in groups if name.split(" ")[0] == ALL]


def _suffix_of(name: str, whole: Mapping[str, object]) -> str:
    return next((suffix for suffix in whole if suffix and name.endswith(suffix)), "")


def _figures(members: Sequence[Asked], whole: Sequence[Asked]) -> dict[str, Figure]:
    inside = [one for one in members if one.question.in_scope]
    outside = [one for one in members if not one.question.in_scope]
    figures = {name: _mean(values) for name, values in _ranked(inside).items()}
    siblings = [one for one in inside if one.question.siblings]
    if siblings:
        figures[SIBLING_FIRST] = _mean([_sibling_leads(one) for one in siblings])
    if inside:
        figures[RECALL] = _mean([one.answered for one in inside])
    if outside:
        figures[REFUSAL] = _mean([not one.answered for one in outside])
        known = inside or [one for one in whole if one.question.in_scope]
        if known:
            figures[AUROC] = auroc(_relevances(known), _relevances(outside))
    return figures


def _ranked(inside: Sequence[Asked]) -> dict[str, list[float]]:
    if not inside:
        return {}
    truth = {one.question.id: dict.fromkeys(one.question.relevant, 1) for one in inside}
    run = {
        one.question.id: {document: -float(rank) for rank, document in enumerate(one.ranking)}
        for one in inside
    }
    names = {measure: name for name, measure in RANKING.items()}
    values: dict[str, list[float]] = {name: [] for name in RANKING}
    for metric in ir_measures.iter_calc(list(RANKING.values()), truth, run):
        values[names[metric.measure]].append(metric.value)
    # A question that found nothing at all is not reported; it counts as nothing found.
    return {name: found + [0.0] * (len(inside) - len(found)) for name, found in values.items()}


def _sibling_leads(one: Asked) -> bool:
    return bool(one.ranking) and one.ranking[0] in one.question.siblings


def _relevances(asked: Sequence[Asked]) -> Array:
    return np.array([one.relevance for one in asked], dtype=np.float64)


def _mean(values: Sequence[float]) -> Figure:
    known = np.array(values, dtype=np.float64)
    return _interval(float(known.mean()), lambda chance: float(_resampled(known, chance).mean()))


def auroc(inside: Array, outside: Array) -> Figure:
    """Return how often a question that is answered has a higher relevance than one that is not."""

    def once(chance: np.random.Generator) -> float:
        return _share_above(_resampled(inside, chance), _resampled(outside, chance))

    return _interval(_share_above(inside, outside), once)


def _share_above(inside: Array, outside: Array) -> float:
    ordered = np.sort(outside)
    below = np.searchsorted(ordered, inside, "left") + np.searchsorted(ordered, inside, "right")
    return float(below.mean() / 2 / len(outside))


def _resampled(values: Array, chance: np.random.Generator) -> Array:
    return chance.choice(values, len(values))


def _interval(value: float, once: Callable[[np.random.Generator], float]) -> Figure:
    chance = np.random.default_rng(_SEED)
    low, high = np.quantile([once(chance) for _ in range(_RESAMPLES)], [0.025, 0.975])
    return Figure(round(value, 4), round(float(low), 4), round(float(high), 4))
