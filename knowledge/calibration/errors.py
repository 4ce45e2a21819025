"""Moves the rule of relevance to one corpus, and says how often it then errs; pure.

Two errors are weighed. A false refusal says "nothing fits" to a caller whose answer is there; a false
answer offers a passage to one whose answer is not. The border lies where a corpus's own imitated
questions are refused as often as the policy allows, and no further; what is stated was measured on
the half of the questions that the border was not drawn with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from knowledge.calibration.asking import Imitated
from knowledge.retrieval.centring import ANY_LANGUAGE
from knowledge.retrieval.grounding import (
    WORDED,
    WORDLESS,
    background_from,
    log_odds,
    odds_from,
    probability,
)
from knowledge.retrieval.policy import RetrievalPolicy

_Z: Final = 1.96
DIGITS: Final = 6


@dataclass(frozen=True)
class Observed:
    """What one question found.

    Units: cosine above the question's level; share in [0, 1].
    """

    language: str
    above_level: float
    share: float
    imitates: Imitated | None = None
    # Whether it is asked in a language of the corpus.
    is_worded: bool = True


def odds_of(observed: Observed, parameters: Mapping[str, Any]) -> float:
    """Return the log-odds of a match as a search would judge it."""
    rule = WORDED if observed.is_worded else WORDLESS
    background = background_from(parameters, [observed.language], level=0.0, rule=rule)
    return log_odds(observed.above_level, observed.share, background)


def moves(
    observed: Iterable[Observed], parameters: Mapping[str, Any], policy: RetrievalPolicy
) -> dict[str, float]:
    """Return by how many log-odds the rule of all corpora moves, by language of the corpus and "all"."""
    at_rest = {**parameters, "moved": {}}
    by_language: dict[str, dict[Imitated, list[float]]] = {ANY_LANGUAGE: {}}
    for one in observed:
        if one.imitates is None:
            continue
        for name in {one.language, ANY_LANGUAGE}:
            kinds = by_language.setdefault(name, {})
            kinds.setdefault(one.imitates, []).append(probability(odds_of(one, at_rest)))
    return {name: _move(kinds, policy) for name, kinds in sorted(by_language.items()) if name}


def _move(by_kind: Mapping[Imitated, Sequence[float]], policy: RetrievalPolicy) -> float:
    refused: dict[Imitated, float] = {
        "sentence": policy.refused_sentences,
        "phrasing": policy.refused_phrasings,
    }
    held = [
        (len(found), float(np.quantile(found, refused[kind]))) for kind, found in by_kind.items()
    ]
    count = policy.prior_questions + sum(number for number, _ in held)
    total = policy.prior_questions * policy.relevance_floor + sum(n * border for n, border in held)
    border = min(policy.strictest, max(policy.mildest, total / count))
    return round(odds_from(border) - odds_from(policy.relevance_floor), DIGITS)


def errors(
    observed: Sequence[Observed], parameters: Mapping[str, Any], policy: RetrievalPolicy
) -> dict[str, Any]:
    """Return both rates on the second half, by a border that the first half has drawn.

    Shape: {"false_refusal": rate, "false_answer": rate, "false_answer_elsewhere": rate}, the last in
           languages that are not the corpus's; each {"count", "rate", "low", "high"}.
    """
    first, second = _halves(observed)
    drawn = {**parameters, "moved": moves(first, parameters, policy)}
    answered = [(one, probability(odds_of(one, drawn)) >= policy.relevance_floor) for one in second]
    groups = {
        "false_refusal": [not found for one, found in answered if one.imitates],
        "false_answer": [found for one, found in answered if not one.imitates and one.is_worded],
        "false_answer_elsewhere": [
            found for one, found in answered if not one.imitates and not one.is_worded
        ],
    }
    return {name: rate(found) for name, found in groups.items() if found}


def rate(errors: Sequence[bool]) -> dict[str, Any]:
    """Return how many of them are true, with its 95 % interval.

    Source: Wilson, JASA 1927.
    """
    count, found = len(errors), sum(errors)
    share, wide = found / count, _Z**2 / count
    middle = (share + wide / 2) / (1 + wide)
    half = _Z * math.sqrt(share * (1 - share) / count + wide / (4 * count)) / (1 + wide)
    figures = {"rate": share, "low": max(0.0, middle - half), "high": min(1.0, middle + half)}
    return {"count": count} | {name: round(value, DIGITS) for name, value in figures.items()}


def _halves(observed: Sequence[Observed]) -> tuple[list[Observed], list[Observed]]:
    """Split every kind of question alike."""
    imitated = [one for one in observed if one.imitates]
    general = [one for one in observed if not one.imitates]
    return imitated[::2] + general[::2], imitated[1::2] + general[1::2]
