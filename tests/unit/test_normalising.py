from __future__ import annotations

import pytest

from knowledge.errors import UnstorableText
from knowledge.text.normalising import (
    clean,
    fingerprint,
    match_key,
    normalise,
    refuse_unstorable,
    strip_unstorable,
)

SAME = [
    ("مُحَمَّــد", "محمد"),
    ("أحمد إلى آخر", "احمد الى اخر"),
    ("مدرسة", "مدرسه"),
    ("شئ مؤكد", "شي موكد"),
    ("٨ أرقام", "8 ارقام"),
    ("۸ رقم", "8 رقم"),
    ("کتاب‌ها", "کتابها"),
    ("کتاب ملی", "كتاب ملي"),
    ("हिन्दी", "हिंदी"),
    ("फ़ोन", "फोन"),
    ("८ अंक", "8 अंक"),
    ("๘ หลัก", "8 หลัก"),
    ("Ｒｅｆｕｎｄ　１２３", "refund 123"),
    ("ｶﾀｶﾅ", "カタカナ"),
    ("O’Brien", "o'brien"),
    ("O´Brien", "O`Brien"),
    ("a–b", "a—b"),
    ("STRASSE", "straße"),
    ("İstanbul", "istanbul"),
    ("ещё", "еще"),
    ("cafe\u0301", "café"),
    ("re\u200bfund\u00ad", "refund"),
    ("\u202erefund\u202c", "refund"),
    ("refund\U000e0041\U000e0042", "refund"),
    ("1\ufe0f\u20e3", "1\u20e3"),
    ("שָׁלוֹם", "שלום"),
    ("  a \t\n b\u00a0c ", "a b c"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_of_the_same_text_meet(one, other):
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"), [("ماء", "ما"), ("casa", "caza"), ("8", "3"), ("billing", "billings")]
)
def test_different_words_stay_apart(one, other):
    assert normalise(one) != normalise(other)


def test_a_match_key_ignores_closing_punctuation():
    assert match_key("How do I pay?") == match_key("how do i pay") == match_key("¿how do I pay?!")


def test_a_match_key_of_signs_alone_is_not_empty():
    assert match_key("???") == "???"


def test_stored_text_keeps_case_accents_joiners_and_line_breaks():
    kept = "Café می‌خواهم\n\tItem 👩‍👧"
    assert clean(kept) == kept


def test_stored_text_has_one_kind_of_line_ending():
    assert clean("a\r\nb\rc\u2028d") == "a\nb\nc\nd"


def test_stored_text_hides_nothing():
    assert clean("a\u202eb\U000e0041c\ufeff\x00d\ud800") == "abcd"


@pytest.mark.parametrize("text", ["a\x00b", "\ud83d alone"])
def test_text_the_database_cannot_hold_is_refused(text):
    with pytest.raises(UnstorableText):
        refuse_unstorable(text)
    refuse_unstorable(strip_unstorable(text))


def test_a_refusal_of_unstorable_text_does_not_repeat_it():
    with pytest.raises(UnstorableText) as refusal:
        refuse_unstorable("secret\x00")
    assert "secret" not in str(refusal.value)
    assert refusal.value.data == {"position": 6}


def test_a_fingerprint_is_the_same_for_the_same_stored_text():
    assert fingerprint("a\r\nb") == fingerprint("a\nb") != fingerprint("a b")
    assert len(fingerprint("")) == 64
