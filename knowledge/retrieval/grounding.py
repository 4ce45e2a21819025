"""Decide what is near enough to be said, and in which order; pure.

One probability decides: no match, weak, golden first. It is a logistic rule over two features: how
far a cosine stands above what questions about something else reach in this corpus, in units of how
widely unrelated questions differ in this embedding space; and the share of the query's weight that
the passage holds. A corpus moves the rule by what its own text can reach
(knowledge.calibration.errors); docs/evaluation.md shows both errors on every set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from knowledge.retrieval.centring import ANY_LANGUAGE
from knowledge.retrieval.policy import RetrievalPolicy
from knowledge.retrieval.types import Ranked, SearchStatus

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


# Log-odds for a share of 1 that words alone are worth: half of the words is even odds.
WORDS_ALONE: Final = 6.0
# Log-odds beyond which nothing is told apart any more.
_SURE: Final = 30.0


@dataclass(frozen=True)
class Rule:
    """Log-odds of a match; fitted over the evaluation sets together, each as much as the others."""

    intercept: float
    per_height: float
    per_share: float


WORDED: Final = Rule(intercept=-3.05, per_height=2.39, per_share=2.56)
# A question in none of the corpus's languages cannot share words with it.
WORDLESS: Final = Rule(intercept=-2.4, per_height=2.39, per_share=2.56)


@dataclass(frozen=True)
class Background:
    """What questions about something else score in this corpus, and how far it moves the rule.

    Units: mean in cosine of the best passage above the question's level, which is what this question
           finds anywhere in the corpus; deviation in cosine, between unrelated questions; usual, the
           height of the corpus's own questions, in deviations; moved in log-odds.
    """

    mean: float = 0.805
    deviation: float = 0.0257
    usual: float = 1.8
    level: float = 0.0
    moved: float = 0.0
    rule: Rule = WORDED


def background_from(
    parameters: Mapping[str, Any], languages: Sequence[str], *, level: float, rule: Rule
) -> Background:
    """Return the figures of a profile, the mean over the queries' languages where it has them."""
    bank = parameters.get("bank", {})
    figures = [found for name in languages if (found := bank.get(name) or bank.get(ANY_LANGUAGE))]
    if not figures:
        return Background(rule=rule)
    # Half of what is usual in the language, half of what is in all: 120 questions alone scatter.
    every = bank.get(ANY_LANGUAGE, figures[0])
    mean = sum(_middle(found) + _middle(every) for found in figures) / (2 * len(figures))
    moves = parameters.get("moved", {})
    return Background(
        mean=mean,
        deviation=float(parameters.get("spread", Background.deviation)),
        usual=float(parameters.get("usual", Background.usual)),
        level=level,
        moved=sum(_moved(moves, name) for name in languages) / len(languages),
        rule=rule,
    )


def _moved(moves: Mapping[str, float], language: str) -> float:
    """Return the move for a language; text in others says nothing that would make it harder."""
    every = moves.get(ANY_LANGUAGE, 0.0)
    return moves.get(language, min(every, 0.0)) if language else every


def _middle(figures: Mapping[str, Any]) -> float:
    """Return the median: some general questions are answered by an encyclopaedia after all."""
    quantiles = figures.get("quantiles")
    return float(quantiles[len(quantiles) // 2] if quantiles else figures["mean"])


def relevance(ranked: Ranked, background: Background) -> float:
    """Return the probability that this row answers the question.

    A row that has no vector yet is judged by its words alone; staff wrote an answer for just the
    questions that it names.
    """
    if ranked.exact:
        return 1.0
    if ranked.cosine is None:
        return probability(WORDS_ALONE * (ranked.share - 0.5))
    return probability(log_odds(ranked.cosine - background.level, ranked.share, background))


def log_odds(above_level: float, share: float, background: Background) -> float:
    """Return the log-odds of a match for a cosine above the question's level."""
    rule = background.rule
    height = (above_level - background.mean) / background.deviation
    return rule.intercept + rule.per_height * height + rule.per_share * share - background.moved


def probability(odds: float) -> float:
    """Return the probability that log-odds stand for."""
    return 1 / (1 + math.exp(-max(-_SURE, min(_SURE, odds))))


def odds_from(relevance: float) -> float:
    """Return the log-odds that a probability stands for."""
    if not 0.0 < relevance < 1.0:
        return _SURE if relevance else -_SURE
    return math.log(relevance / (1 - relevance))


def judge(ranking: Sequence[Ranked], background: Background) -> list[Ranked]:
    """Attach its relevance to every row; the order stays."""
    return [replace(ranked, relevance=relevance(ranked, background)) for ranked in ranking]


def arrange(judged: Sequence[Ranked], policy: RetrievalPolicy) -> list[Ranked]:
    """Keep what is relevant: golden answers that surely match first, then both categories.

    The second category follows the first, so that a shorter list is a prefix of a longer one.
    """
    relevant = [r for r in judged if r.relevance >= policy.relevance_floor]
    likely = [r.relevance for r in relevant if r.category == "knowledge" and not r.exact]
    best = max(likely, default=0.0)
    needed = probability(odds_from(best) - policy.golden_margin)
    golden = [r for r in relevant if _leads(r, max(policy.golden_floor, needed))]
    rest = [r for r in relevant if r not in golden]
    ordered = sorted(golden, key=lambda ranked: not ranked.exact) + rest
    first = max(1, len(golden))
    return ordered[:first] + _second_category_first(ordered, first)


def _leads(ranked: Ranked, needed: float) -> bool:
    if ranked.kind != "golden" or not ranked.leads:
        return False
    return ranked.exact or ranked.relevance >= needed


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
