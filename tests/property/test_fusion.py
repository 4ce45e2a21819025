"""The ranking arithmetic holds whatever the legs bring."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.retrieval.fusion import Corpus, fuse
from knowledge.retrieval.policy import RetrievalPolicy
from knowledge.retrieval.types import Candidate, Query

POLICIES = [RetrievalPolicy(fusion="score_sum"), RetrievalPolicy(fusion="reciprocal_rank")]
CORPUS = Corpus(weight=lambda token: 1.0 + token / 10, deviation=0.02)
TOKENS = st.frozensets(st.integers(1, 9), min_size=1)
cosine = st.floats(0.5, 0.99).map(lambda value: round(value, 4))


def query(tokens, language="en"):
    return Query("text", "text", language, tokens, frozenset())


@st.composite
def searches(draw):
    queries = draw(st.lists(TOKENS.map(query), min_size=1, max_size=4))
    count = len(queries)
    rows = st.builds(
        Candidate,
        category=st.sampled_from(["instruction", "knowledge"]),
        asset_id=st.integers(1, 8).map(lambda n: UUID(int=n)),
        position=st.integers(0, 3),
        kind=st.sampled_from(["knowledge", "instruction", "golden"]),
        title=st.just("t"),
        content_hash=st.just("h"),
        cosines=st.none() | st.tuples(*[cosine] * count),
        title_cosines=st.none(),
        matched=st.frozensets(st.integers(1, 9)),
        language=st.sampled_from(["en", "es", ""]),
        legs=st.just(frozenset({"dense"})),
    )
    found = draw(
        st.lists(rows, max_size=12, unique_by=lambda c: (c.category, c.asset_id, c.position))
    )
    return queries, found


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.fusion)
@given(searches(), st.randoms())
def test_the_order_in_which_rows_arrive_changes_nothing(policy, search, chance):
    queries, found = search
    shuffled = list(found)
    chance.shuffle(shuffled)
    first, second = (fuse(rows, queries, CORPUS, policy) for rows in (found, shuffled))
    assert [r.asset_id for r in first] == [r.asset_id for r in second]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.fusion)
@given(searches())
def test_every_truth_row_stands_once(policy, search):
    queries, found = search
    ranked = fuse(found, queries, CORPUS, policy)
    assert sorted((r.category, r.asset_id) for r in ranked) == sorted(
        {(c.category, c.asset_id) for c in found}
    )


@given(searches(), st.integers(0, 11))
def test_a_nearer_passage_never_ranks_its_document_lower(search, index):
    queries, found = search
    if not found:
        return
    chosen = found[index % len(found)]
    if chosen.cosines is None:
        return
    nearer = replace(chosen, cosines=tuple(min(1.0, c + 0.05) for c in chosen.cosines))
    before = fuse(found, queries, CORPUS, POLICIES[0])
    after = fuse([nearer if c is chosen else c for c in found], queries, CORPUS, POLICIES[0])

    def place(ranking):
        key = (chosen.category, chosen.asset_id)
        return [(r.category, r.asset_id) for r in ranking].index(key)

    assert place(after) <= place(before)


def row(number, cosines, matched=(), language="en"):
    return Candidate(
        "knowledge", UUID(int=number), 0, "knowledge", "t", "h", cosines, None, frozenset(matched),
        language, frozenset({"dense"}),
    )  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.fusion)
def test_what_several_queries_agree_on_beats_what_one_found(policy):
    queries = [query(frozenset({1})), query(frozenset({2}))]
    agreed, lone, low = row(2, (0.88, 0.88)), row(1, (0.90, 0.80)), row(3, (0.81, 0.82))
    assert fuse([lone, agreed, low], queries, CORPUS, policy)[0].asset_id == UUID(int=2)


def test_words_of_another_language_do_not_count():
    spanish = [query(frozenset({1, 2}), "es")]
    english, no_words = row(1, (0.80,), {1, 2}, "en"), row(2, (0.81,))
    assert fuse([english, no_words], spanish, CORPUS, POLICIES[0])[0].asset_id == UUID(int=2)


def test_words_of_the_same_language_break_a_near_tie():
    english = [query(frozenset({1, 2}))]
    holds_them, nearer = row(1, (0.80,), {1, 2}), row(2, (0.81,))
    assert fuse([nearer, holds_them], english, CORPUS, POLICIES[0])[0].asset_id == UUID(int=1)
