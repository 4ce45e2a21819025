from __future__ import annotations

import uuid

import numpy as np

from knowledge.calibration.corpus import Block
from knowledge.calibration.scoring import score
from knowledge.retrieval.fusion import title_weights
from knowledge.retrieval.policy import DEFAULT_POLICY

POSITIONS = (-2, -1, 0, 1)
CHANCE = np.random.default_rng(3)


def unit(*shape):
    vectors = CHANCE.standard_normal(shape).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def block(assets):
    rows = [(asset, position) for asset in assets for position in POSITIONS]
    golden = np.array([asset == assets[0] for asset, _ in rows])
    positions = np.array([position for _, position in rows])
    return Block([asset for asset, _ in rows], positions, golden, unit(len(rows), 8))


def expected(question, blocks):
    """The slow way: every passage with its asset's nearest title, one after the other."""
    found = []
    for one in blocks:
        for row, position in enumerate(one.positions):
            if position < 0:
                continue
            cosines = one.vectors @ question
            mine = [i for i, asset in enumerate(one.assets) if asset == one.assets[row]]
            titles = [cosines[i] for i in mine if one.positions[i] < 0]
            best, every = title_weights(DEFAULT_POLICY, golden=bool(one.golden[row]))
            named = best * max(titles) + every * np.mean(titles)
            mixed = (cosines[row] + named) / (1 + best + every)
            found.append((float(mixed), (one.assets[row], int(position)), float(cosines[row])))
    return found


def test_the_best_passage_is_the_one_a_search_would_rank_first():
    blocks = [block([uuid.uuid4() for _ in range(5)]) for _ in range(3)]
    questions = unit(6, 8)
    scores = score(questions, [None] * 6, blocks, DEFAULT_POLICY)
    for number, question in enumerate(questions):
        best, place, _ = max(expected(question, blocks))
        assert abs(scores.best[number] - best) < 1e-5
        assert scores.places[number] == place


def test_a_phrasing_is_scored_against_its_answer_as_if_the_answer_did_not_have_it():
    assets = [uuid.uuid4() for _ in range(4)]
    blocks = [block(assets)]
    questions = unit(1, 8)
    scores = score(questions, [assets[2]], blocks, DEFAULT_POLICY)
    found = expected(questions[0], blocks)
    other = max(entry for entry in found if entry[1][0] != assets[2])
    titles = [row for row in range(8, 12) if blocks[0].positions[row] < 0]
    assert abs(scores.own[0] - min(blocks[0].vectors[titles] @ questions[0])) < 1e-5
    assert scores.places[0] == other[1]


def test_the_spread_is_that_of_the_passages_own_cosine():
    blocks = [block([uuid.uuid4() for _ in range(5)]) for _ in range(2)]
    questions = unit(3, 8)
    scores = score(questions, [None] * 3, blocks, DEFAULT_POLICY)
    for number, question in enumerate(questions):
        cosines = [cosine for _, _, cosine in expected(question, blocks)]
        assert abs(scores.deviation[number] - np.std(cosines)) < 1e-5


def test_an_empty_corpus_has_no_best_passage():
    assert score(unit(2, 8), [None, None], [], DEFAULT_POLICY).places == [None, None]
