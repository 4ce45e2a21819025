"""Which characters are folded, and into what: the tables behind `normalise` and `clean`."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

# Every format character and decimal digit outside the tag block lies below this code point.
SCANNED = 0x20000
VARIATION = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))
TAGS = range(0xE0000, 0xE0080)
BIDI = (range(0x200E, 0x2010), range(0x202A, 0x202F), range(0x2066, 0x206A), range(0x061C, 0x061D))
# Soft hyphen, zero-width space, invisible operators, byte order mark, annotation marks.
INVISIBLE = (
    range(0x00AD, 0x00AE),
    range(0x200B, 0x200C),
    range(0x2060, 0x2066),
    range(0x206A, 0x2070),
    range(0xFEFF, 0xFF00),
    range(0xFFF9, 0xFFFC),
)
# Letters that draw nothing: grapheme joiner and the Hangul and Khmer fillers.
FILLERS = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)

APOSTROPHES = "'’‘‛ʼʻʹ′`´＇՚׳ꞌ"
QUOTES = "“”„‟«»″״❝❞〝〞"
DASHES = "‐‑‒–—―−﹘﹣－⁃־᠆⸺⸻"

ARABIC_MARKS = (
    range(0x0610, 0x061B),
    range(0x064B, 0x0660),
    range(0x0670, 0x0671),
    range(0x06D6, 0x06DD),
    range(0x06DF, 0x06E9),
    range(0x06EA, 0x06EE),
    range(0x08D3, 0x08E2),
    range(0x08E3, 0x0900),
    range(0x0640, 0x0641),
)
HEBREW_POINTS = (
    range(0x0591, 0x05BE),
    range(0x05BF, 0x05C0),
    range(0x05C1, 0x05C3),
    range(0x05C4, 0x05C6),
    range(0x05C7, 0x05C8),
)
# The bare hamza stays: it tells "water" from "what".
ARABIC_LETTERS = str.maketrans(
    "أإآٱٲٳؤئىیېکڪةۀہەۃ٫٬", "اااااا\u0648\u064a\u064a\u064a\u064aككههههه.,"
)
OTHER_LETTERS = str.maketrans({"ё": "е", "ँ": "ं", "़": None})


def _all(ranges: Iterable[range]) -> Iterator[int]:
    for each in ranges:
        yield from each


def _scanned() -> Iterator[tuple[int, str | None]]:
    for code in range(SCANNED):
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Cf":
            yield code, None
        elif category == "Cc":
            yield code, " "
        elif category == "Nd":
            yield code, str(unicodedata.decimal(character))


def folding_table() -> dict[int, str | int | None]:
    """Build the table that `str.translate` applies to text on its way to the index."""
    table: dict[int, str | int | None] = dict(_scanned())
    for code in (*_all(VARIATION), *TAGS, *FILLERS, *range(0xD800, 0xE000)):
        table[code] = None
    for code in (*_all(ARABIC_MARKS), *_all(HEBREW_POINTS)):
        table[code] = None
    for signs, into in ((APOSTROPHES, "'"), (QUOTES, '"'), (DASHES, "-")):
        table.update(dict.fromkeys(map(ord, signs), into))
    return {**table, **ARABIC_LETTERS, **OTHER_LETTERS}


def storing_table() -> dict[int, str | None]:
    """Build the table that takes out what is never stored: it changes no visible letter."""
    table: dict[int, str | None] = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))
    for code in (*TAGS, *_all(BIDI), *_all(INVISIBLE), *range(0xD800, 0xE000)):
        table[code] = None
    table.update({0x09: "\t", 0x0A: "\n"})
    table.update(dict.fromkeys((0x0B, 0x0C, 0x85, 0x2028, 0x2029), "\n"))
    return table
