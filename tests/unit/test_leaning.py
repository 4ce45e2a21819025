"""Golden answers are judged by what a caller wants, where part of what was asked only refuses."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from knowledge.retrieval.leaning import Leaning, leaning_of, withhold
from knowledge.retrieval.query import understand
from knowledge.retrieval.types import Candidate, Ranked, Understood

ASSET = UUID(int=1)
REFUSAL, OTHER_REFUSAL, WISH = "no quiero cancelar", "I don't want to cancel", "keep my card"


def answer(**changed):
    row = Ranked(
        category="knowledge", asset_id=ASSET, position=0, kind="golden", title="Cards",
        content_hash="", score=0.0, cosine=0.9, share=0.0, legs=(), ranks=(), relevance=0.8,
    )  # fmt: skip
    return replace(row, **changed)


def relevance_of(row, wished, refused):
    (told,) = withhold([row], Leaning({ASSET: wished}, {ASSET: refused}))
    return told.relevance


def leaning(*texts):
    """Return the leaning where each query finds the one row as relevant as its cosine."""
    told = {REFUSAL: 0.5, OTHER_REFUSAL: 0.6, WISH: 0.7}
    queries = understand(texts, organization_id=1)
    cosines = tuple(told[query.text] for query in queries)
    found = Candidate(
        "knowledge", ASSET, 0, "golden", "", "", cosines, None, frozenset(), "", frozenset()
    )
    vectors = tuple(query.text for query in queries)

    def judging(part, candidates):
        assert part.vectors == tuple(query.text for query in part.queries)
        (row,) = candidates
        return [answer(relevance=sum(row.cosines) / len(row.cosines))]

    return leaning_of(Understood(queries, vectors, ""), [found], judging)


def test_an_answer_nearer_to_what_is_wanted_counts_as_it_does_for_that():
    assert relevance_of(answer(), 0.9, 0.7) == 0.9


def test_an_answer_nearer_to_what_is_refused_is_not_relevant():
    assert relevance_of(answer(), 0.9, 0.95) == 0.0


def test_without_a_wish_no_answer_is_relevant():
    (told,) = withhold([answer()], leaning(REFUSAL, OTHER_REFUSAL))
    assert told.relevance == 0.0


@pytest.mark.parametrize(
    "changed", [{"kind": "knowledge"}, {"exact": True}, {"title": "I do not want a card"}]
)
def test_what_is_no_answer_about_what_is_refused_stays_as_it_is(changed):
    assert relevance_of(answer(**changed), 0.1, 0.9) == 0.8


def test_where_nothing_is_refused_all_stays_as_it_is():
    assert leaning(WISH) is None
    assert withhold([answer()], None) == [answer()]


@pytest.mark.parametrize("texts", [(REFUSAL, OTHER_REFUSAL, WISH), (WISH, OTHER_REFUSAL, REFUSAL)])
def test_the_refusal_that_fits_best_is_compared_with_the_rest_of_the_question(texts):
    told = leaning(*texts)
    assert (told.wished, told.refused) == ({ASSET: 0.7}, {ASSET: 0.6})
