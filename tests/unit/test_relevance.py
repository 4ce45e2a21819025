from __future__ import annotations

from uuid import UUID

import pytest

from knowledge.retrieval.grounding import WORDED, WORDLESS, Background, background_from, relevance
from knowledge.retrieval.types import Ranked

BANK = {
    "en": {"mean": 0.40, "deviation": 0.02},
    "ar": {"mean": 0.44, "deviation": 0.04},
    "all": {"mean": 0.50, "deviation": 0.05},
}


def figures(languages, level=0.0, rule=WORDED, **parameters):
    known = {"bank": BANK, "spread": 0.02} | parameters
    return background_from(known, languages, level=level, rule=rule)


def row(cosine, share=0.0):
    return Ranked(
        category="knowledge", asset_id=UUID(int=1), position=0, kind="knowledge", title="",
        content_hash="", score=0.0, cosine=cosine, share=share, legs=(), ranks=(),
    )  # fmt: skip


def test_half_of_the_background_is_the_language_s_and_half_is_that_of_all():
    assert figures(["ar"]).mean == pytest.approx(0.47)
    assert figures(["tr"]).mean == pytest.approx(0.50)


def test_the_background_of_two_languages_is_averaged():
    assert figures(["ar", "en"]).mean == pytest.approx(0.46)


def test_general_questions_that_a_corpus_does_answer_do_not_raise_its_background():
    answered = [0.40] * 15 + [0.60] * 6
    bank = {"all": {"mean": 0.46, "deviation": 0.1, "quantiles": answered}}
    assert figures(["en"], bank=bank).mean == pytest.approx(0.40)


def test_without_a_profile_what_is_usual_elsewhere_serves():
    assert background_from({}, ["en"], level=0.3, rule=WORDED) == Background()


def test_a_question_about_something_else_is_no_match():
    assert relevance(row(0.45), figures(["en"])) < 0.1


def test_a_question_far_above_general_ones_is_a_match():
    assert relevance(row(0.51), figures(["en"])) > 0.95


def test_what_a_question_finds_anywhere_tells_nothing():
    low, high = figures(["en"], level=0.0), figures(["en"], level=0.1)
    assert relevance(row(0.45), low) == pytest.approx(relevance(row(0.55), high))


def test_words_in_common_help_and_a_foreign_question_does_not_miss_them():
    worded, wordless = figures(["en"]), figures(["en"], rule=WORDLESS)
    assert relevance(row(0.46, share=0.8), worded) > relevance(row(0.46), worded)
    assert relevance(row(0.46), wordless) > relevance(row(0.46), worded)


def test_a_corpus_moves_the_rule_for_questions_in_its_language():
    told = [
        relevance(row(0.48), figures(["en"], moved={"en": moved})) for moved in (1.0, 0.0, -1.0)
    ]
    assert told == sorted(told)
    assert told[0] < told[2]


def test_text_in_another_language_never_makes_a_question_harder():
    moves = [figures(["ar"], rule=WORDLESS, moved={"en": x, "all": x}).moved for x in (1.0, -1.0)]
    assert moves == [0.0, -1.0]


def test_a_question_in_no_known_language_moves_as_the_whole_corpus_does():
    assert figures([""], moved={"en": 0.5, "all": 0.4}).moved == 0.4
