from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from knowledge.indexing.texts import AssetText

words = st.text(st.sampled_from("a1 \x1f\r\n\ufeff\u00ade\u0301é"), max_size=4)
texts = st.builds(
    AssetText,
    title=words,
    body=words,
    container=words,
    language=words,
    phrasings=st.lists(words, max_size=2).map(tuple),
)


def said(text):
    return (text.title, text.body, text.container, text.language, text.phrasings)


@given(texts, texts)
def test_other_parts_have_another_hash(one, other):
    assume(said(one) != said(other))
    assert one.content_hash != other.content_hash


def test_a_letter_that_moves_from_the_body_into_the_title_is_a_change():
    fee, other = AssetText("Fees", "10 AED", "", "en"), AssetText("Fees1", "0 AED", "", "en")
    assert fee.content_hash != other.content_hash


def test_a_text_of_any_characters_has_a_hash():
    assert len(AssetText("\ud800", "\x00", "", "").content_hash) == 64
