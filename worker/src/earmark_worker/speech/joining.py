"""Puts what is said back into the text, so that no words and no numbers run together."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from earmark_worker.languages.folding import is_han
from earmark_worker.speech.voices import Voice

# A dash with a space before it alone may be a minus: "5% -10%".
_MARKS = "\u200e\u200f\u061c"
_BETWEEN = re.compile(rf"[{_MARKS}]*(?:\s[-–—~～〜]\s|[-–—~～〜]\s?)[{_MARKS}]*")
_DEGREES = "unit °"
_INVISIBLE = f" \t\n\u00a0\u2009\u202f{_MARKS}"


@dataclass(frozen=True)
class Measure:
    """What may be the end of a range: its kind with the unit, and how much, where that counts."""

    unit: str
    value: float | None = None


@dataclass(frozen=True)
class Replacement:
    """A piece of the text and what is said for it."""

    start: int
    end: int
    spoken: str
    measure: Measure | None = None


@dataclass(frozen=True)
class _Piece:
    text: str
    is_new: bool


def joined(segment: str, replacements: Iterable[Replacement], voice: Voice) -> str:
    """The segment with its replacements, parted where the text alone no longer parts them."""
    said = ""
    last_is_new = False
    for piece in _pieces(segment, replacements, voice):
        said = _parted(said, piece.text, is_new=piece.is_new or last_is_new)
        last_is_new = piece.is_new or (last_is_new and not piece.text.strip(_INVISIBLE))
    return said


def _pieces(segment: str, replacements: Iterable[Replacement], voice: Voice) -> Iterable[_Piece]:
    position, previous = 0, None
    for found in replacements:
        between = segment[position : found.start]
        if previous and _is_range(previous, between, found):
            between = f" {voice.words.to} "
        yield _Piece(between, is_new=False)
        yield _Piece(found.spoken, is_new=found.spoken != segment[found.start : found.end])
        position, previous = found.end, found
    yield _Piece(segment[position:], is_new=False)


def _is_range(first: Replacement, between: str, second: Replacement) -> bool:
    if first.measure is None or second.measure is None or not _BETWEEN.fullmatch(between):
        return False
    units = {first.measure.unit, second.measure.unit}
    return _rises(first.measure, second.measure) and (
        len(units) == 1 or all(unit.startswith(_DEGREES) for unit in units)
    )


def _rises(first: Measure, second: Measure) -> bool:
    # "$100 - $20" is a subtraction, not a range.
    return first.value is None or second.value is None or first.value < second.value


def _parted(left: str, right: str, *, is_new: bool) -> str:
    if not is_new:
        return left + right
    before, after = left.rstrip(_INVISIBLE), right.lstrip(_INVISIBLE)
    if before[-1:].isdecimal() and after[:1].isdecimal():
        return f"{before}, {after}"
    glued = _is_word(left[-1:]) and _is_word(right[:1])
    return f"{left} {right}" if glued else left + right


def _is_word(char: str) -> bool:
    return bool(char) and unicodedata.category(char)[0] in "LMN" and not is_han(char)
