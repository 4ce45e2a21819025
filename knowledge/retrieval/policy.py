"""Every number of retrieval, with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class RetrievalPolicy:
    """How candidates are found, ranked, judged and cut. Zero is a value, not "unset".

    fusion              how the legs and the queries become one ranking: `score_sum` adds cosine
                        and lexical share, `reciprocal_rank` needs ranks only.
    centre_weight       share of the mean general question of a language that is taken out of a
                        question's vector (docs/decisions/0005-fusion.md); read when a corpus is
                        measured, so that figures and search always agree.
    level_weight        share of a question's mean cosine over the whole corpus that its best one
                        must stand above to tell anything; read like centre_weight.
    depth               rows that each leg offers by query and category; the sum is over both.
    lexical_weight      standard deviations of cosine that full lexical coverage is worth.
    cosine_deviation    cosine; the within-query spread where no profile has measured it.
    title_weight        share of a passage's cosine that its title's cosine adds.
    golden_title_weight the same for golden answers: question and answer count alike.
    count_weight        standard deviations of cosine that a title gains when it speaks of exactly
                        the number of digits that the caller gave, and loses when of others.
    rrf_k               ranks; damps the lead of first places (Cormack et al., SIGIR 2009).
    lexical_rows        rows; most that the rarest tokens of a query may bring in by category.
    characters_each     characters of one result's content (voice-contract.md).
    characters_all      characters of all results together.
    relevance_floor     probability below which a search has no match.
    weak_below          probability below which the guidance says to hedge.
    golden_floor        probability from which a golden answer is placed first,
    golden_margin       unless something else is better by so many standard deviations of cosine:
                        an answer near the question is still not the answer to it.
    """

    fusion: Literal["score_sum", "reciprocal_rank"] = "score_sum"
    centre_weight: float = 0.5
    level_weight: float = 0.5
    depth: int = 100
    lexical_weight: float = 2.5
    cosine_deviation: float = 0.02
    title_weight: float = 0.3
    golden_title_weight: float = 1.0
    count_weight: float = 2.0
    rrf_k: int = 60
    lexical_rows: int = 2_000
    characters_each: int = 1_200
    characters_all: int = 5_000
    relevance_floor: float = 0.5
    weak_below: float = 0.7
    golden_floor: float = 0.8
    golden_margin: float = 0.3


DEFAULT_POLICY = RetrievalPolicy()
