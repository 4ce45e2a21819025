"""Amounts, dates and counts in a text, with the words that say what they count; pure."""

from __future__ import annotations

import re
from typing import Final

from knowledge.text.normalising import normalise

ENOUGH_WORDS: Final = 2
_FIGURES: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")


def figures(text: str) -> list[tuple[frozenset[str], str]]:
    """Return every figure with the words just around it, which say what it counts."""
    told = []
    for match in _FIGURES.finditer(text):
        before = _WORD.findall(text[max(0, match.start() - 40) : match.start()])[-3:]
        after = _WORD.findall(text[match.end() : match.end() + 25])[:2]
        told.append((frozenset(map(normalise, before + after)), match[0]))
    return told


def same_thing(own: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the words around two figures say that they count the same."""
    return len(own & other) >= ENOUGH_WORDS


def alike(own: str, other: str) -> bool:
    """Whether two figures are of one form, as two amounts or two times of day."""
    return re.sub(r"\d+", "0", own) == re.sub(r"\d+", "0", other)
