"""How much a decoded sample reads like writing: wrong encodings make strange neighbours."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final

from knowledge.text.languages import script_of_character

TEXT_CONTROLS: Final = frozenset("\t\n\r\f\v\x1b\x1a\x85")
UNWRITTEN: Final = frozenset({"Cc", "Cn", "Co", "Cs"})
JAPANESE: Final = frozenset({"Hani", "Kana"})
# The national standards list the characters of everyday writing first.
EVERYDAY: Final = (
    ("gb2312", 0xB0A1, 0xD7F9),
    ("shift_jis", 0x889F, 0x9872),
    ("big5", 0xA440, 0xC67E),
)
RARE: Final = -0.5
LONE_JAMO: Final = range(0x3131, 0x318F)
HALF_KANA: Final = range(0xFF61, 0xFFA0)


def likeness(sample: str, encoding: str = "") -> float:
    """Return a share between below 0 (noise) and 1 (writing) over the signs that are not ASCII."""
    pairs = [(a, b) for a, b in pairwise(sample) if a > "\x7f" or b > "\x7f"]
    signs = [sign for sign in sample if sign > "\x7f" or sign < " "]
    if not signs:
        return 1.0
    alike = sum(_together(a, b) for a, b in pairs) / len(pairs) if pairs else 1.0
    return alike + sum(map(_oddity, signs)) / len(signs) - _misplaced(sample, encoding)


@lru_cache(maxsize=65_536)
def _oddity(sign: str) -> float:
    if sign in TEXT_CONTROLS:
        return 0.0
    if unicodedata.category(sign) in UNWRITTEN or sign == "\ufffd":
        return -1.0
    if ord(sign) in LONE_JAMO or ord(sign) in HALF_KANA:
        return RARE
    return RARE if script_of_character(sign) == "Hani" and not _is_everyday(sign) else 0.0


def _is_everyday(sign: str) -> bool:
    for standard, first, last in EVERYDAY:
        code = int.from_bytes(sign.encode(standard, "ignore"), "big")
        if first <= code <= last:
            return True
    return False


def _together(a: str, b: str) -> bool:
    one, two = script_of_character(a), script_of_character(b)
    if "Zyyy" in {one, two}:
        return two == "Zyyy" or not _is_sign(a)
    if a.islower() and b.isupper():
        return False
    return one == two or {one, two} <= JAPANESE


def _is_sign(sign: str) -> bool:
    return sign > "\x7f" and unicodedata.category(sign) in {"No", "Sc", "Sm", "So", "Sk", "Cc"}


def _misplaced(sample: str, encoding: str) -> float:
    """Kana inside Chinese encodings is Japanese read with the wrong table."""
    if encoding not in {"gb18030", "big5", "big5hkscs"}:
        return 0.0
    kana = sum(script_of_character(sign) == "Kana" for sign in sample)
    return min(1.0, 4 * kana / max(len(sample), 1))
