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


def figures(languages, titles=None, level=0.0, rule=WORDED):
    parameters = {"bank": BANK} | ({"titles": titles} if titles else {})
    return background_from(parameters, languages, level=level, rule=rule)


def row(cosine, share=0.0):
    return Ranked(
        category="knowledge", asset_id=UUID(int=1), position=0, kind="knowledge", title="",
        content_hash="", score=0.0, cosine=cosine, share=share, legs=(), ranks=(),
    )  # fmt: skip


def test_figures_are_those_of_the_question_s_language():
    assert (figures(["ar"]).mean, figures(["tr"]).mean) == (0.44, 0.50)


def test_figures_of_two_languages_are_averaged():
    both = figures(["ar", "en"])
    assert (both.mean, both.deviation) == (pytest.approx(0.42), pytest.approx(0.03))


def test_without_a_profile_what_is_usual_elsewhere_serves():
    assert background_from({}, ["en"], level=0.3, rule=WORDED) == Background()


def test_many_titles_say_how_high_a_match_stands():
    assert figures(["en"], {"count": 2_000, "mean": 0.48}).usual == pytest.approx(4.0, abs=0.05)


def test_few_titles_hardly_count():
    assert figures(["en"], {"count": 1, "mean": 0.9}).usual == pytest.approx(6.4, abs=0.1)


def test_a_question_about_something_else_is_no_match():
    assert relevance(row(0.40), figures(["en"])) < 0.1


def test_a_question_as_near_as_a_title_is_a_match():
    found = figures(["en"], {"count": 2_000, "mean": 0.48})
    assert relevance(row(0.48), found) > 0.95


def test_what_a_question_finds_anywhere_tells_nothing():
    low, high = figures(["en"], level=0.0), figures(["en"], level=0.1)
    assert relevance(row(0.5), low) == pytest.approx(relevance(row(0.6), high))


def test_words_in_common_help_and_a_foreign_question_does_not_miss_them():
    worded, wordless = figures(["en"]), figures(["en"], rule=WORDLESS)
    assert relevance(row(0.44, share=0.8), worded) > relevance(row(0.44), worded)
    assert relevance(row(0.44), wordless) > relevance(row(0.44), worded)
