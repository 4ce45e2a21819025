"""Tell what a caller wants from what they do not want, and keep answers about the latter back; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import UUID

from knowledge.retrieval.types import Candidate, Ranked, Understood
from knowledge.text.refusals import is_refusal

T = TypeVar("T")
Judging = Callable[[Understood, Sequence[Candidate]], Sequence[Ranked]]


@dataclass(frozen=True)
class Leaning:
    """How relevant each row is to what the caller wants, and to what they refuse.

    Units: probabilities by asset id; `refused` is that of the query which fits best.
    """

    wished: Mapping[UUID, float]
    refused: Mapping[UUID, float]


def leaning_of(asked: Understood, found: Sequence[Candidate], judging: Judging) -> Leaning | None:
    """Judge the queries that refuse apart from the others; None where none refuses.

    Cost: the ranking once more for each query that refuses, and once for all others.
    """
    refusing = [place for place, query in enumerate(asked.queries) if query.refuses]
    wishing = [place for place, query in enumerate(asked.queries) if not query.refuses]
    if not refusing:
        return None
    if not wishing:
        return Leaning({}, {})
    refused: dict[UUID, float] = {}
    for place in refusing:
        for asset, told in _relevances(asked, found, [place], judging).items():
            refused[asset] = max(told, refused.get(asset, 0.0))
    return Leaning(_relevances(asked, found, wishing, judging), refused)


def withhold(judged: Sequence[Ranked], leaning: Leaning | None) -> list[Ranked]:
    """Judge golden answers by what is wanted; those nearer to what is refused are not relevant.

    An answer that is written for a refusal, or for just these words, stays as it is.
    """
    if leaning is None:
        return list(judged)
    return [
        replace(ranked, relevance=_wanted(ranked.asset_id, leaning))
        if ranked.kind == "golden" and not (ranked.exact or is_refusal(ranked.title))
        else ranked
        for ranked in judged
    ]


def _wanted(asset: UUID, leaning: Leaning) -> float:
    wished = leaning.wished.get(asset, 0.0)
    return wished if wished > leaning.refused.get(asset, 0.0) else 0.0


def _relevances(
    asked: Understood, found: Sequence[Candidate], places: Sequence[int], judging: Judging
) -> dict[UUID, float]:
    part = replace(
        asked,
        queries=tuple(asked.queries[place] for place in places),
        vectors=_at(asked.vectors, places),
    )
    rows = judging(part, [_as_found(candidate, places) for candidate in found])
    return {row.asset_id: row.relevance for row in rows}


def _as_found(candidate: Candidate, places: Sequence[int]) -> Candidate:
    return replace(
        candidate,
        cosines=_at(candidate.cosines, places),
        title_cosines=_at(candidate.title_cosines, places),
        phrasing_cosines=_at(candidate.phrasing_cosines, places),
    )


def _at(values: Sequence[T] | None, places: Sequence[int]) -> tuple[T, ...] | None:
    return None if values is None else tuple(values[place] for place in places)
