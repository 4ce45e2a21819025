from __future__ import annotations

import pytest

from knowledge.text.tokens import (
    LONGEST_TOKEN,
    MOST_QUERY_TOKENS,
    MOST_TOKENS,
    query_tokens,
    tokenise,
)

CODES = ["PPR-9087", "ppr 9087", "ppr9087", "PPR_9087", "PPR/9087", "ppr–9087", "ＰＰＲ９０８７"]


@pytest.mark.parametrize("written", CODES)
@pytest.mark.parametrize("asked", CODES)
def test_a_code_is_found_however_it_is_spelled(written, asked):
    assert {"ppr9087", "ppr", "9087"} <= set(tokenise(written)) & set(query_tokens(asked))


def test_a_spelled_out_code_is_found():
    assert "ppr9087" in query_tokens("p p r 9087")


@pytest.mark.parametrize(
    ("written", "asked", "language"),
    [
        ("refunds are issued", "refund issue", "en"),
        ("las facturaciones", "facturación", "es"),
        ("die Rechnungen", "Rechnung", "de"),
        ("les remboursements", "remboursement", "fr"),
        ("возвраты", "возврат", "ru"),
        ("المدرسة", "مدرسة", "ar"),
        ("الفواتير", "فواتير", "ar"),
        ("والحسابات", "حساب", "ar"),
        ("कितने भुगतानों", "भुगतान", "hi"),
        ("کتاب‌ها", "کتاب", "fa"),
    ],
)
def test_an_inflected_word_is_found_by_its_stem(written, asked, language):
    shared = set(tokenise(written, language)) & set(query_tokens(asked, language))
    assert any(token.startswith("~") for token in shared)


@pytest.mark.parametrize(
    ("written", "asked", "language"),
    [
        ("facturación", "facturacion", "es"),
        ("Gebühren", "gebuehren", "de"),
        ("Gebühren", "gebuhren", "de"),
        ("Smørrebrød", "smorrebrod", "da"),
        ("Straße", "strasse", "de"),
        ("می‌خواهم", "می خواهم", "fa"),
        ("می خواهم", "میخواهم", "fa"),
        ("کتاب‌ها", "کتاب ها", "fa"),
        ("e-mail", "email", "en"),
        ("O'Brien", "obrien", "en"),
        ("O'Brien", "o’brien", "en"),
        ("U.S.A.", "usa", "en"),
        ("AT&T", "at&t", "en"),
        ("1,000 AED", "1000", "en"),
        ("C++", "c++", "en"),
        ("C#", "c#", "en"),
        ("a:b", "b", "en"),
        ("call 1 800 555", "1800", "en"),
        ("050-123-4567", "0501234567", "en"),
        ("support@acme.com", "acme", "en"),
        ("iPhoneの設定", "設定", None),
        ("iPhoneの設定", "iphone", None),
        ("ขอคืนเงินได้", "คืนเงิน", None),
        ("환불을 원해요", "환불", None),
        ("退款政策", "退款", None),
        ("退款政策", "退", None),
    ],
)
def test_another_spelling_finds_the_word(written, asked, language):
    assert set(tokenise(written, language)) & set(query_tokens(asked, language))


@pytest.mark.parametrize("asked", ["8 digit", "eight digit", "eight-digit", "8-digit", "٨ digit"])
@pytest.mark.parametrize("written", ["8 digits", "Eight digits", "an eight-digit code", "８-digit"])
def test_a_count_is_found_in_words_or_digits(written, asked):
    assert set(query_tokens(asked)) == {"8", "digit", "~digit"}
    assert {"8", "~digit"} <= set(tokenise(written))


@pytest.mark.parametrize(
    ("words", "digits", "language"),
    [
        ("twenty-four hours", "24", "en"),
        ("twenty four hours", "24", "en"),
        ("three hundred dirhams", "300", "en"),
        ("ocho dígitos", "8", "es"),
        ("acht Ziffern", "8", "de"),
        ("huit chiffres", "8", "fr"),
        ("ثمانية أرقام", "8", "ar"),
        ("восемь цифр", "8", "ru"),
    ],
)
def test_a_number_word_is_asked_for_in_digits(words, digits, language):
    assert digits in tokenise(words, language)
    assert digits in query_tokens(words, language)
    assert words.split()[0] not in query_tokens(words, language)


def test_one_stays_a_word_and_is_found_as_a_digit():
    assert query_tokens("this one") == ["one", "~one"]
    assert "1" in tokenise("one digit")


def test_stop_words_are_indexed_but_not_asked_for():
    assert query_tokens("how do I get the refund", "en") == ["get", "~get", "refund", "~refund"]
    assert {"how", "the"} <= set(tokenise("how do I get the refund", "en"))


@pytest.mark.parametrize(
    ("query", "language"), [("what is it", "en"), ("qué es", "es"), ("هل", "ar")]
)
def test_a_query_of_stop_words_alone_asks_for_them(query, language):
    assert query_tokens(query, language)


def test_a_placeholder_asks_for_its_count_alone():
    assert query_tokens("[10-digit structured value]") == ["10", "digit", "~digit"]


def test_unspaced_scripts_ask_for_pairs_of_characters():
    assert query_tokens("退款政策") == ["退款", "款政", "政策"]
    assert query_tokens("退") == ["退"]


def test_names_of_products_keep_english_stems_in_another_language():
    assert "~charger" in tokenise("شاحن chargers الأصلي", "ar")


def test_a_language_tag_with_a_region_is_its_language():
    assert tokenise("faturas", "pt-BR") == tokenise("faturas", "pt")


def test_a_language_without_rules_has_no_stems():
    assert [token[0] for token in tokenise("کتابیں", "ur")] == ["ك"]


def test_a_long_word_is_found_by_its_beginning():
    word = "x" * 500
    assert tokenise(word)[0] == query_tokens(word)[0] == "x" * LONGEST_TOKEN


def test_the_number_of_tokens_is_bounded():
    text = " ".join(f"word{n}" for n in range(5_000))
    assert len(tokenise(text)) == MOST_TOKENS
    assert len(query_tokens(text)) == MOST_QUERY_TOKENS


@pytest.mark.parametrize("text", ["", "   ", "?!", "\x00", "\ud800", "'", "-", "++", "#"])
def test_text_without_words_has_no_tokens(text):
    assert tokenise(text) == query_tokens(text) == []
