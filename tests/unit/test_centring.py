from __future__ import annotations

import numpy as np
import pytest

from knowledge.retrieval.centring import ANY_LANGUAGE, centred, centres_of, packed, unpacked

EN, DE, ANY = (
    np.array([1, 0], np.float32),
    np.array([0, 1], np.float32),
    np.array([2, 2], np.float32),
)
CENTRES = {"en": EN, "de": DE, ANY_LANGUAGE: ANY}
ASKED = np.array([5, 5], np.float32)


@pytest.mark.parametrize(
    ("language", "left"), [("en", [4, 5]), ("de", [5, 4]), ("tr", [3, 3]), ("", [3, 3])]
)
def test_a_question_loses_the_centre_of_its_language_or_of_all(language, left):
    assert centred([ASKED], [language], CENTRES)[0].tolist() == left


def test_without_centres_a_question_stays_as_it_is():
    assert centred([ASKED], ["en"], unpacked({"bank": {}}))[0] is ASKED


def test_the_order_of_documents_without_the_common_direction_is_kept():
    documents = np.array([[0, 1], [0, 0.5]], np.float32)
    before, after = documents @ ASKED, documents @ centred([ASKED], ["en"], CENTRES)[0]
    assert before.tolist() == after.tolist()


def test_a_centre_is_the_weighted_mean_of_its_language_s_questions():
    found = centres_of({"en": [EN, DE], "de": [DE, DE], "fr": []}, 0.5)
    assert {name: centre.tolist() for name, centre in found.items()} == {
        "en": [0.25, 0.25],
        "de": [0.0, 0.5],
        ANY_LANGUAGE: [0.125, 0.375],
    }


def test_centres_are_read_as_they_were_packed():
    found = unpacked({"centres": packed(CENTRES)})
    assert {name: centre.tolist() for name, centre in found.items()} == {
        name: centre.tolist() for name, centre in CENTRES.items()
    }
