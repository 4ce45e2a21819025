from __future__ import annotations

import pytest

from knowledge.retrieval.query import understand
from knowledge.retrieval.spelled import with_codes
from knowledge.text.keys import token_key


@pytest.mark.parametrize(
    ("spoken", "read"),
    [
        ("p p r nine zero eight seven", "ppr9087"),
        ("what does P-P-R ninety eighty seven cost", "what does ppr9087 cost"),
        ("a b 4 4 one seven", "ab4417"),
        ("p p r nine oh eight seven", "ppr9087"),
        ("p p r nueve cero ocho siete, ¿cuánto cuesta?", "ppr9087 cuánto cuesta"),
    ],
)
def test_letters_and_numbers_that_are_spelled_out_are_one_code(spoken, read):
    assert with_codes(spoken) == read


@pytest.mark.parametrize(
    "text",
    [
        "PPR-9087",
        "plan b two",
        "I have a 5 year old",
        "vitamin a or b",
        "eight-digit code",
        "a b c",
    ],
)
def test_other_text_stays_as_it_is(text):
    assert with_codes(text) == text


def test_a_query_asks_for_the_code_and_not_for_its_letters():
    (query,) = understand(["p p r nine zero eight seven"], organization_id=1)
    assert query.tokens == query.codes | query.tokens
    assert token_key(1, "ppr9087") in query.codes
    assert token_key(1, "p") not in query.tokens
