"""From the signs of a line of a PDF to its text."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from pdfminer.layout import LTChar

from knowledge.ingestion.readers.right_to_left import (
    is_mark,
    is_right_to_left,
    letters_of,
    read_rightly,
)
from knowledge.ingestion.readers.runs import LOWERED, PLAIN, RAISED, joined

JOINED = re.compile("(?<=\\d)(?=[⁰¹²³⁴-⁹₀-₉])")
# Of the size of a line's letters: how small exponents and notes are, and how far off the others.
SMALL = 0.85
RAISED_BY = 0.2
LOWERED_BY = 0.05
# As the library has it: how far apart two signs of one word are at most.
GAP = 0.1


def said(line: Any, signs: Sequence[Any]) -> str:
    """Return a line's text; digits that are smaller and higher or lower are apart from the others."""
    kind = _kinds(signs)
    if is_right_to_left(line.get_text()):
        return _rightly_read([each for each in line if isinstance(each, LTChar)], kind)
    runs = [(each, "".join(sign.get_text() for sign in run)) for each, run in groupby(line, kind)]
    return runs[0][1] if len(runs) == 1 else joined((text, each) for each, text in runs)


def _kinds(signs: Sequence[Any]) -> Callable[[Any], str]:
    """Return what tells of a sign of a line whether it is raised or lowered."""
    size, bottom = middle(sign.size for sign in signs), middle(sign.y0 for sign in signs)

    def kind(sign: Any) -> str:
        if not isinstance(sign, LTChar) or sign.size >= SMALL * size:
            return PLAIN
        above = (sign.y0 - bottom) / size
        return RAISED if above > RAISED_BY else LOWERED if above < -LOWERED_BY else PLAIN

    return kind


def _rightly_read(signs: Iterable[Any], kind: Callable[[Any], str]) -> str:
    """The library orders signs as the file does, and programs write Arabic in one order or the other."""
    signs = sorted(signs, key=_centre)
    letters = [each for each in signs if not is_mark(each.get_text())]
    texts = [_letters(each, kind(each)) for each in letters]
    centres = [_centre(each) for each in letters]
    for mark in (each for each in signs if is_mark(each.get_text())):
        after = bisect(centres, _centre(mark), hi=len(letters) - 1)
        near = min((max(after - 1, 0), after), key=lambda at: abs(centres[at] - _centre(mark)))
        texts[near] += mark.get_text()
    for place in range(len(letters) - 1, 0, -1):
        sign, before = letters[place], letters[place - 1]
        if sign.x0 - before.x1 > GAP * max(sign.width, sign.height):
            texts.insert(place, " ")
    return JOINED.sub(" ", read_rightly(texts))


def _letters(sign: Any, kind: str) -> str:
    text = letters_of(sign.get_text())
    return text if kind == PLAIN else joined([(text, kind)])


def _centre(sign: Any) -> float:
    return float(sign.x0 + sign.x1)


def middle(values: Iterable[float]) -> float:
    """Return the value that half of them do not exceed, or 0 of none."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0
