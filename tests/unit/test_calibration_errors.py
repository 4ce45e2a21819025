from __future__ import annotations

import pytest

from knowledge.calibration.errors import Observed, errors, moves, rate
from knowledge.retrieval.policy import DEFAULT_POLICY

PARAMETERS = {"bank": {"all": {"mean": 0.4, "deviation": 0.02}}, "spread": 0.02}


def sentences(*heights):
    return [Observed("en", 0.4 + 0.02 * height, 0.5, imitates="sentence") for height in heights]


def general(*heights, is_worded=True):
    return [Observed("en", 0.4 + 0.02 * height, 0.1, is_worded=is_worded) for height in heights]


def move(observed):
    return moves(observed, PARAMETERS, DEFAULT_POLICY)["all"]


def test_text_that_stands_high_above_general_questions_makes_the_rule_stricter():
    assert move(sentences(*[3.0] * 200)) > 1.0


def test_text_that_hardly_stands_above_general_questions_makes_it_milder():
    assert move(sentences(*[0.2] * 200)) < -0.7


def test_a_corpus_moves_the_rule_within_bounds():
    least, most = move(sentences(*[-9.0] * 5_000)), move(sentences(*[9.0] * 5_000))
    assert (least, most) == (pytest.approx(-0.8473, abs=0.01), pytest.approx(1.3863, abs=0.01))


def test_each_language_of_the_corpus_moves_by_its_own_text():
    arabic = [Observed("ar", 0.4, 0.5, imitates="sentence")] * 100
    told = moves(sentences(*[3.0] * 100) + arabic, PARAMETERS, DEFAULT_POLICY)
    assert told["en"] > 1.0 > 0.0 > told["ar"]


def test_few_sentences_hardly_move_it():
    assert abs(move(sentences(3.0))) < 0.15


def test_nothing_moves_it_where_there_is_nothing():
    assert move(general(0.0, 1.0)) == 0.0


def test_errors_are_counted_on_the_half_that_did_not_draw_the_border():
    observed = sentences(*[3.0, -3.0] * 50) + general(*[0.0, 3.0] * 50)
    stated = errors(observed, PARAMETERS, DEFAULT_POLICY)
    assert stated["false_refusal"] | {"low": 0, "high": 0} == {
        "count": 50, "rate": 1.0, "low": 0, "high": 0,
    }  # fmt: skip
    assert stated["false_answer"]["rate"] == 1.0


def test_languages_that_are_not_the_corpus_s_are_stated_apart():
    stated = errors(general(*[0.0] * 10, is_worded=False), PARAMETERS, DEFAULT_POLICY)
    assert list(stated) == ["false_answer_elsewhere"]


def test_a_rate_has_the_interval_of_wilson():
    found = rate([True] * 5 + [False] * 95)
    assert (found["rate"], found["low"], found["high"]) == (
        0.05, pytest.approx(0.0215, abs=1e-3), pytest.approx(0.1118, abs=1e-3),
    )  # fmt: skip
