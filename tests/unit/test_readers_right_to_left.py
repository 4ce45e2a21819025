"""Arabic and Hebrew of a PDF are read in the order in which people read them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from knowledge.ingestion.readers.formats import parse
from knowledge.ingestion.readers.parsed import ParsedText
from knowledge.ingestion.readers.right_to_left import is_right_to_left, letters_of, read_rightly


def seen(*parts: str) -> str:
    """What stands on the page from left to right, of the parts that stand from right to left."""
    return "".join(part if part.isascii() else part[::-1] for part in reversed(parts))


@pytest.mark.parametrize(
    "parts",
    [
        ("الرسوم السنوية",),
        ("الرسوم ", "500", " درهم في السنة."),
        ("من ", "1,250.50", " إلى ", "99%", " من المبلغ"),
        ("من ", "10", " و", "20"),
        ("اتصل بـ ", "Acme Bank LLC", " اليوم"),
        ("الموقع ", "www.acme.example/help", " مفتوح"),
        ("الرسوم ", "AED 500", " فقط"),
        ("שלום ", "42", " שקל"),
    ],
)
def test_a_line_from_the_right_is_read_from_the_right(parts):
    assert read_rightly(list(seen(*parts))) == "".join(parts)


def test_a_word_from_the_right_in_a_line_from_the_left_is_read_so():
    word = "درهم"
    line = f"The fee of 500 {word[::-1]} is taken"
    assert read_rightly(list(line)) == f"The fee of 500 {word} is taken"


def test_brackets_open_to_the_other_side():
    assert read_rightly(list("(" + "درهم"[::-1] + ")")) == "(درهم)"


def test_letters_that_are_drawn_as_one_stay_in_their_order():
    assert read_rightly(["م", "ا", "لا", "س"]) == "سلاام"
    assert letters_of("ﻻ") == "لا"


def test_a_line_from_the_left_stays_as_it_is():
    assert not is_right_to_left("Fee: 500 £ (1)")
    assert read_rightly(list("Fee: 500 £ (1)")) == "Fee: 500 £ (1)"
    assert read_rightly(list("500 (1)")) == "500 (1)"


FONT = (
    "<</Type/Font/Subtype/Type3/FontBBox[0 0 500 700]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 1"
    "/LastChar {last}/Widths[{widths}]/CharProcs<<{shapes}>>/Encoding<</Differences[1 {names}]>>"
    "/ToUnicode 5 0 R>>"
)


def placed(text: Sequence[tuple[float, str]], *, raised: str = "") -> bytes:
    """A PDF that has these signs at these places, written in this order."""
    signs = sorted({sign for _, sign in text})
    codes = {sign: number for number, sign in enumerate(signs, start=1)}
    drawn = "".join(
        ("0.6 0 0 0.6 {x} 705 " if sign in raised else "1 0 0 1 {x} 700 ").format(x=100 + 5 * x)
        + f"Tm <{codes[sign]:02x}> Tj "
        for x, sign in text
    )
    chars = "".join(f"<{code:02x}> <{ord(sign):04x}> " for sign, code in codes.items())
    font = FONT.format(
        last=len(signs), widths="500 " * len(signs), names="".join(f"/g{n} " for n in codes.values()),
        shapes="".join(f"/g{n} 6 0 R " for n in codes.values()),
    )  # fmt: skip
    unicode = f"begincmap 1 begincodespacerange <00> <ff> endcodespacerange {len(signs)} beginbfchar {chars}endbfchar endcmap"
    parts = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 7 0 R>>>>>>",
        *(f"<</Length {len(each)}>>stream\n{each}\nendstream" for each in (
            f"BT /F 10 Tf {drawn}ET", unicode, "500 0 0 0 500 700 d1 0 0 500 700 re f")),
        font,
    ]  # fmt: skip
    body = "".join(f"{n} 0 obj\n{part}\nendobj\n" for n, part in enumerate(parts, start=1))
    return f"%PDF-1.4\n{body}trailer<</Root 1 0 R>>\n%%EOF".encode()


@pytest.mark.parametrize("backward", [False, True])
def test_a_pdf_in_arabic_is_read_from_the_right_in_whatever_order_it_is_written(backward):
    parts = ("الرسوم ", "500", " درهم في السنة")
    signs = list(enumerate(seen(*parts)))
    (found,) = parse("a.pdf", placed(signs[::-1] if backward else signs))
    assert isinstance(found, ParsedText)
    assert found.body == "".join(parts)


@pytest.mark.parametrize("off", [-0.3, 0.0, 0.3])
def test_vowel_signs_stay_with_their_letter(off):
    signs = [(0, "ح"), (off, "َ"), (1, "م"), (1 + off, "ُ")]
    (found,) = parse("a.pdf", placed(signs))
    assert isinstance(found, ParsedText)
    assert found.body == "مُحَ"


def test_a_raised_digit_in_arabic_stands_apart_from_its_number():
    parts = ("الرسوم ", "5001", " درهم")
    (found,) = parse("a.pdf", placed(list(enumerate(seen(*parts))), raised="1"))
    assert isinstance(found, ParsedText)
    assert found.body == "الرسوم 500 ¹ درهم"
