from __future__ import annotations

import time

import pytest

from knowledge.errors import CodeShapeRefused
from knowledge.text.redaction import redact, refuse_code_shape


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("my number is 0501234567", "my number is [10-digit structured value]"),
        ("call 050 123 4567", "call [10-digit structured value]"),
        ("call 050-123–4567 now", "call [10-digit structured value] now"),
        ("pin 1234.", "pin [4-digit structured value]."),
        ("1 2 3 4", "[4-digit structured value]"),
        ("رقمي ٠٥٠١٢٣٤٥٦٧", "رقمي [10-digit structured value]"),
        ("मेरा ९८७६५४", "मेरा [6-digit structured value]"),
        ("密码1234", "密码[4-digit structured value]"),
        ("１２３４", "[4-digit structured value]"),
        ("12\u200b34", "[4-digit structured value]"),
        (
            "1\ufe0f\u20e32\ufe0f\u20e33\ufe0f\u20e34\ufe0f\u20e3",
            "[4-digit structured value]\ufe0f\u20e3",
        ),
        ("¹²³⁴", "[4-digit structured value]"),
        ("①②③④", "[4-digit structured value]"),
        ("1234 and 56789", "[4-digit structured value] and [5-digit structured value]"),
        ("x12345", "x[5-digit structured value]"),
        ("AB-123456", "AB-[6-digit structured value]"),
        ("visa4111 1111 1111 1111", "visa[16-digit structured value]"),
        ("card4111-1111-1111-1111", "card[16-digit structured value]"),
    ],
)
def test_four_digits_or_more_become_their_count(said, kept):
    assert redact(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        "what does PPR-9087 mean",
        "error AB12345",
        "model ppr–9087",
        "PPR-9087 12 boxes",
        "AB12CD3456",
        "PPR-908-12",
        "two codes, AB-1234 and CD-5678",
        "room 123 at 12:30",
        "24 7",
        "",
    ],
)
def test_product_codes_and_short_numbers_survive(said):
    assert redact(said) == said


def test_a_declared_code_survives():
    assert redact("ticket LM-1234567 ok", ["LM-#######"]) == "ticket LM-1234567 ok"
    assert redact("ticket lm-1234567", ["LM-#######"]) == "ticket lm-1234567"
    assert redact("ticket Q7-123456", ["A#-######"]) == "ticket Q7-123456"


def test_a_declared_code_does_not_cover_a_longer_number():
    redacted = redact("LM-12345678", ["LM-#######"])
    assert redacted == "LM-[8-digit structured value]"


def test_a_declared_shape_covers_nothing_inside_a_word():
    assert redact("XLM-1234567", ["LM-#######"]) == "XLM-[7-digit structured value]"


@pytest.mark.parametrize(
    "shape", ["", "####", "#### ####", "AA", "A(#)+", "A#*", "A" * 40 + "#", " A#", "A#\n"]
)
def test_an_unsafe_shape_is_refused_and_protects_nothing(shape):
    with pytest.raises(CodeShapeRefused):
        refuse_code_shape(shape)
    assert redact("1234 5678", [shape]) == "[8-digit structured value]"


def test_a_safe_shape_is_accepted():
    refuse_code_shape("AA-####")
    refuse_code_shape("INV #####/##")


def test_a_very_long_run_has_a_marker_without_a_run_of_its_own():
    assert redact("7" * 5_000) == "[999-digit structured value]"


@pytest.mark.parametrize("unit", ["a", "1 ", "ab1", "A-", "1" + " " * 50, "ab12345 "])
def test_redaction_takes_linear_time(unit):
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    redact(text, ["LM-####", "AA-##"])
    assert time.process_time() - started < 2
