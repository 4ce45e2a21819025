"""Arabic and Hebrew in PDF: the file says where signs stand from left to right, and not how they are read.

Source: Unicode Standard Annex #9, the other way round; what two orders show alike is read in the usual one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

# One letter for each class of signs; all others part nothing and join nothing.
CLASSES: Final = {
    "R": "R",
    "AL": "R",
    "L": "L",
    "EN": "N",
    "AN": "A",
    "CS": "c",
    "ES": "e",
    "ET": "t",
}
# Latin words with what stands between them, numbers with their separators and their percent sign.
LEFT_TO_RIGHT: Final = re.compile(r"L(?:[^R]*[LN])?|t*N(?:[Nt]|[ce](?=N))*|A(?:A|c(?=A))*")
RIGHT_TO_LEFT: Final = re.compile(r"R(?:[^L]*R)?")
FORMS: Final = re.compile("[\ufb1d-\ufdff\ufe70-\ufeff]")
MIRRORED: Final = str.maketrans("()[]{}<>«»", ")(][}{><»«")


def is_right_to_left(text: str) -> bool:
    """Whether there is writing in it that goes from right to left."""
    return not text.isascii() and "R" in _classes(text)


def is_mark(text: str) -> bool:
    """Whether it is a sign that stands above or below a letter, as those of vowels do."""
    return bool(text) and unicodedata.combining(text[0]) != 0


def letters_of(text: str) -> str:
    """Return the letters of a sign, whatever form its place in a word gives it."""
    return unicodedata.normalize("NFKC", text) if FORMS.search(text) else text


def read_rightly(signs: Sequence[str]) -> str:
    """Return signs, which stand from left to right, as they are read.

    Shape: a sign may be several letters that are drawn as one.
    """
    classes = _classes([sign[:1] for sign in signs])
    if "R" not in classes:
        return "".join(signs)
    if _is_mostly_from_right(signs, classes):
        return "".join(_reversed(signs, classes, 0, len(signs)))
    parts, place = [], 0
    for run in RIGHT_TO_LEFT.finditer(classes):
        parts += [*signs[place : run.start()], *_reversed(signs, classes, *run.span())]
        place = run.end()
    return "".join([*parts, *signs[place:]])


def _is_mostly_from_right(signs: Sequence[str], classes: str) -> bool:
    # Words and not letters: an address is long, and one word among the others.
    parted = (" " if sign.isspace() else kind for sign, kind in zip(signs, classes, strict=True))
    words = "".join(parted).split()
    return sum("R" in word for word in words) >= sum("L" in word for word in words)


def _reversed(signs: Sequence[str], classes: str, start: int, end: int) -> Iterator[str]:
    place = end
    for run in reversed(list(LEFT_TO_RIGHT.finditer(classes, start, end))):
        yield from _backward(signs[run.end() : place])
        yield from signs[run.start() : run.end()]
        place = run.start()
    yield from _backward(signs[start:place])


def _backward(signs: Sequence[str]) -> Iterator[str]:
    # A bracket that opens to the left is one that closes for whoever reads from the left.
    return (sign.translate(MIRRORED) for sign in reversed(signs))


def _classes(signs: Sequence[str]) -> str:
    return "".join(
        CLASSES.get(unicodedata.bidirectional(sign), "w") if sign else "w" for sign in signs
    )
