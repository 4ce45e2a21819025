"""Decide what is near enough to be said, and in which order; pure.

One probability decides: no match, weak, golden first. It is a logistic rule over two features: how
far a cosine stands above what questions about something else reach in this corpus, as a share of how
far the corpus's own titles do; and the share of the query's weight that the passage holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from knowledge.retrieval.policy import RetrievalPolicy
from knowledge.retrieval.types import Query, Ranked, SearchStatus
from knowledge.text.refusals import is_refusal

WEAK = (
    "The match is weak. Say only what the passages state, hedge, or ask the caller for one detail."
)
NO_MATCH = (
    "Nothing that fits was found. Do not invent facts: use your instructions or offer the fallback."
)
UNAVAILABLE = (
    "The search could not be completed. Do not invent facts: use your instructions or offer the"
    " fallback."
)


@dataclass(frozen=True)
class Rule:
    """Log-odds of a match; fitted over the evaluation sets together (docs/decisions/0005-fusion.md)."""

    intercept: float
    per_height: float
    per_share: float


WORDED: Final = Rule(intercept=-3.1, per_height=7.5, per_share=3.0)
# A question in none of the corpus's languages shares no words with it, which says nothing.
WORDLESS: Final = Rule(intercept=-2.35, per_height=7.6, per_share=0.0)
# So many titles weigh as much as what is usual elsewhere.
_PRIOR: Final = 20


@dataclass(frozen=True)
class Background:
    """What questions about something else score in this corpus, and what its own titles do.

    Units: mean and deviation in cosine of the best passage above the question's level, which is what
           this question finds anywhere in the corpus; usual in deviations.
    """

    mean: float = 0.805
    deviation: float = 0.02
    usual: float = 5.5
    level: float = 0.0
    rule: Rule = WORDED


def background_from(
    parameters: Mapping[str, Any], languages: Sequence[str], *, level: float, rule: Rule
) -> Background:
    """Return the figures of a profile, the mean over the queries' languages where it has them."""
    bank = parameters.get("bank", {})
    figures = [found for name in languages if (found := bank.get(name) or bank.get("all"))]
    if not figures:
        return Background(rule=rule)
    mean = _mean_of(figures, "mean")
    deviation = max(_mean_of(figures, "deviation"), 0.004)
    usual = _usual(parameters.get("titles"), mean, deviation)
    return Background(mean, deviation, usual, level, rule)


def _mean_of(figures: Sequence[Mapping[str, Any]], name: str) -> float:
    return sum(float(found[name]) for found in figures) / len(figures)


def _usual(titles: Mapping[str, Any] | None, mean: float, deviation: float) -> float:
    """Return the height of the corpus's titles; the fewer there are, the more what is usual counts."""
    if not titles:
        return Background.usual
    count, height = int(titles["count"]), (float(titles["mean"]) - mean) / deviation
    return max(1.0, (count * height + _PRIOR * Background.usual) / (count + _PRIOR))


def relevance(ranked: Ranked, background: Background) -> float:
    """Return the probability that this row answers the question.

    A row that has no vector yet is judged by its words alone; staff wrote an answer for just the
    questions that it names.
    """
    if ranked.exact:
        return 1.0
    if ranked.cosine is None:
        return ranked.share
    rule = background.rule
    height = (ranked.cosine - background.level - background.mean) / background.deviation
    odds = (
        rule.intercept + rule.per_height * height / background.usual + rule.per_share * ranked.share
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def judge(ranking: Sequence[Ranked], background: Background) -> list[Ranked]:
    """Attach its relevance to every row; the order stays."""
    return [replace(ranked, relevance=relevance(ranked, background)) for ranked in ranking]


def withhold(judged: Sequence[Ranked], queries: Sequence[Query]) -> list[Ranked]:
    """Take golden answers about what the caller does not want out of what is near enough.

    An answer that is written for a refusal, or for just these words, stays.
    """
    if not any(query.refuses for query in queries):
        return list(judged)
    return [replace(r, relevance=0.0) if _answers_the_opposite(r) else r for r in judged]


def _answers_the_opposite(ranked: Ranked) -> bool:
    return ranked.kind == "golden" and not ranked.exact and not is_refusal(ranked.title)


def arrange(judged: Sequence[Ranked], policy: RetrievalPolicy, deviation: float) -> list[Ranked]:
    """Keep what is relevant: golden answers that surely match first, then both categories.

    The second category follows the first, so that a shorter list is a prefix of a longer one.
    """
    relevant = [r for r in judged if r.relevance >= policy.relevance_floor]
    best = max((r.score for r in relevant if r.category == "knowledge"), default=0.0)
    needed = best - policy.golden_margin * deviation
    golden = [r for r in relevant if _leads(r, policy, needed)]
    rest = [r for r in relevant if r not in golden]
    ordered = sorted(golden, key=lambda ranked: not ranked.exact) + rest
    first = max(1, len(golden))
    return ordered[:first] + _second_category_first(ordered, first)


def _leads(ranked: Ranked, policy: RetrievalPolicy, needed: float) -> bool:
    if ranked.kind != "golden" or not ranked.leads:
        return False
    near = ranked.relevance >= policy.golden_floor and ranked.score >= needed
    return ranked.exact or near


def _second_category_first(ordered: list[Ranked], first: int) -> list[Ranked]:
    tail = ordered[first:]
    other = next((r for r in tail if r.category != ordered[0].category), None) if tail else None
    if other is None:
        return tail
    return [other, *(r for r in tail if r is not other)]


def verdict(
    arranged: Sequence[Ranked], degraded: Sequence[str], policy: RetrievalPolicy
) -> tuple[SearchStatus, str | None]:
    """Return the status and the guidance that goes with it; a miss with a failed leg is no miss."""
    if not arranged:
        if degraded:
            return SearchStatus.UNAVAILABLE, UNAVAILABLE
        return SearchStatus.NO_MATCH, NO_MATCH
    weak = max(r.relevance for r in arranged) < policy.weak_below
    return SearchStatus.OK, WEAK if weak else None
