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
                        question's vector (docs/decisions/0007-fusion.md); read when a corpus is
                        measured, so that figures and search always agree.
    level_weight        share of a question's mean cosine over the whole corpus that its best one
                        must stand above to tell anything; read like centre_weight.
    depth               rows that each leg offers by query and category; the sum is over both.
    lexical_weight      standard deviations of cosine that full lexical coverage is worth.
    golden_lexical_weight  the same for golden answers: callers ask short questions in words of
                        their own, and a shared word tells less.
    cosine_deviation    cosine; the within-query spread where no profile has measured it.
    title_weight        share of a passage's cosine that its title's cosine adds.
    golden_title_weight the same for a golden answer's best phrasing,
    golden_phrasings_weight  and for the mean of all its phrasings: one that happens to be near is
                        worth less than several that agree. Together as much as the answer.
    count_weight        standard deviations of cosine that a title gains when it speaks of exactly
                        the number of digits that the caller gave, and loses when of others.
    rrf_k               ranks; damps the lead of first places (Cormack et al., SIGIR 2009).
    lexical_rows        rows; most that the rarest tokens of a query may bring in by category.
    characters_each     characters of one result's content (voice-contract.md).
    characters_all      characters of all results together.
    relevance_floor     probability below which a search has no match.
    weak_below          probability below which the guidance says to hedge.
    refused_sentences   share of a corpus's own sentences, asked as questions, that the rule may
                        refuse there: on every set they are harder than what people ask, so that
                        one in seven of them is about one in twenty real questions;
    refused_phrasings   the same of golden phrasings asked without their own words, which are as
                        hard as real questions. A wrong "nothing fits" loses a caller who could
                        have been helped, a passage too many is guarded by the guidance: the rule
                        moves up only as far as this allows.
    strictest, mildest  probabilities by the rule of all corpora, between which one corpus may move
                        the border; a corpus of a few odd sentences shall not close or open it.
    prior_questions     questions; so many count for the middle in place of a corpus's own.
    golden_floor        probability from which a golden answer is placed first,
    golden_margin       unless something else of knowledge is likelier by more log-odds than this: an
                        answer near the question is still not the answer to it.
    """

    fusion: Literal["score_sum", "reciprocal_rank"] = "score_sum"
    centre_weight: float = 0.5
    level_weight: float = 0.5
    depth: int = 100
    lexical_weight: float = 3.0
    golden_lexical_weight: float = 1.0
    cosine_deviation: float = 0.02
    title_weight: float = 0.3
    golden_title_weight: float = 0.5
    golden_phrasings_weight: float = 0.5
    count_weight: float = 2.0
    rrf_k: int = 60
    lexical_rows: int = 2_000
    characters_each: int = 1_200
    characters_all: int = 5_000
    relevance_floor: float = 0.5
    weak_below: float = 0.7
    refused_sentences: float = 0.15
    refused_phrasings: float = 0.10
    strictest: float = 0.8
    mildest: float = 0.3
    prior_questions: int = 20
    golden_floor: float = 0.7
    golden_margin: float = 0.7


DEFAULT_POLICY = RetrievalPolicy()
