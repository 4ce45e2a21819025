from __future__ import annotations

import unicodedata

import regex
from hypothesis import given
from hypothesis import strategies as st

from knowledge.text.compounds import UNSPACED
from knowledge.text.languages import guess_language, language_code, script_of
from knowledge.text.normalising import clean, fingerprint, match_key, normalise
from knowledge.text.redaction import redact
from knowledge.text.speech import prepare_for_embedding
from knowledge.text.tokens import LONGEST_TOKEN, MOST_TOKENS, query_tokens, tokenise

ALPHABETS = (
    "abcXYZ09 '-.,:+#\n",
    "éüñßøİıçÀ ",
    "ابتةىيكکیأإآؤئءًّـ٠٣۸\u200c ",
    "कखन्म्ं़ँी८ ",
    "退款政策のカナー。한국ขอคืนเงิ ",
    "ёйїЯгд λσς ",
    "\u200b\u202e\ufe0f\u00ad\x00\x1f\ud800\U000e0041😀①½ﬁ",
)
anything = st.text(st.characters(exclude_categories=()), max_size=80)
texts = st.one_of(anything, st.text(st.sampled_from("".join(ALPHABETS)), max_size=60))
languages = st.sampled_from([None, "", "en", "pt-BR", "ar", "fa", "ur", "zh", "de", "xx", "und"])


@given(texts)
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)


@given(texts)
def test_a_match_key_is_a_key_of_itself(text):
    assert match_key(match_key(text)) == match_key(text)


@given(texts)
def test_normalised_text_holds_nothing_invisible(text):
    assert not {unicodedata.category(c) for c in normalise(text)} & {"Cf", "Cc", "Cs", "Zl", "Zp"}


@given(texts)
def test_cleaning_twice_changes_nothing(text):
    assert clean(clean(text)) == clean(text)


@given(texts)
def test_cleaned_text_can_be_stored(text):
    cleaned = clean(text)
    assert "\x00" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)


@given(texts)
def test_cleaning_never_changes_what_a_text_is_found_by(text):
    assert normalise(clean(clean(text))) == normalise(clean(text))
    assert fingerprint(clean(text)) == fingerprint(text)


@given(texts, languages)
def test_tokens_are_distinct_bounded_and_without_blanks(text, language):
    tokens = tokenise(text, language)
    assert len(tokens) == len(set(tokens)) <= MOST_TOKENS
    assert all(
        0 < len(token) <= LONGEST_TOKEN and not regex.search(r"\s", token) for token in tokens
    )


@given(texts, languages)
def test_a_text_is_found_by_each_token_it_asks_for(text, language):
    assert set(query_tokens(text, language)) <= set(tokenise(text, language))


@given(texts, languages)
def test_tokens_do_not_depend_on_how_the_text_is_encoded(text, language):
    spoken = language_code(language) or "en"
    assert tokenise(normalise(text), spoken) == tokenise(text, spoken)


@given(
    st.text(st.characters(categories=["Ll", "Lu"], max_codepoint=0x24F), min_size=1, max_size=20)
)
def test_no_word_is_taken_for_a_stem(word):
    exact = [token for token in tokenise(f"{word} ~{word}") if not token.startswith("~")]
    assert exact


@given(st.text(st.sampled_from("退款政策有关的问题カナ"), min_size=1, max_size=20))
def test_a_part_of_an_unspaced_text_is_found_in_it(text):
    whole = set(tokenise(f"前{text}后", "zh"))
    assert set(query_tokens(text, "zh")) <= whole
    assert regex.search(f"[{UNSPACED}]", text)


@given(texts)
def test_guessing_never_fails_and_never_wavers(text):
    assert guess_language(text) == guess_language(text)
    assert len(script_of(text)) == 4


@given(texts, languages)
def test_preparing_never_fails_and_never_empties_a_query(text, language):
    prepared = prepare_for_embedding(text, language)
    assert bool(prepared) == bool(text.split())


@given(texts)
def test_preparing_twice_changes_nothing_after_a_sentence_has_ended(text):
    ended = prepare_for_embedding(text + " ok.", "en")
    assert prepare_for_embedding(ended, "en") == ended


digits = st.text(st.sampled_from("0123456789٠١۲۳१２³①"), min_size=1, max_size=9)
pieces = st.one_of(
    digits,
    st.sampled_from(
        ["AB", "ppr-", "x", " ", "-", "–", "\u200b", "\u00a0", ".", "密码", "رقم", "[", "\n"]
    ),
)
spoken_numbers = st.one_of(st.lists(pieces, max_size=12).map("".join), texts)
RUN = regex.compile(r"\d(?:[\s\p{Pd}\u200b]*\d){3,}")
KEPT_CODE = regex.compile(r"[A-Za-z]{2,}\p{Pd}?\p{Nd}(?:\p{Pd}?\p{Nd}){0,4}(?!\p{Nd})")


@given(spoken_numbers)
def test_redacting_twice_changes_nothing(text):
    assert redact(redact(text)) == redact(text)


@given(spoken_numbers)
def test_no_run_of_four_digits_is_left_outside_a_code(text):
    assert not RUN.search(KEPT_CODE.sub("␣code␣", redact(text)))


@given(st.from_regex(r"[A-Z]{2,6}-?[0-9]{1,5}", fullmatch=True))
def test_a_product_code_survives(code):
    assert redact(f"what about {code} please") == f"what about {code} please"


@given(texts)
def test_text_with_fewer_than_four_digits_is_left_alone(text):
    few = regex.sub(r"[\p{N}]", "x", text)
    assert redact(few) == few
