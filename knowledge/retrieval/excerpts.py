"""Cut text short without breaking a sentence, a list item, a number or a character; pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import regex

from knowledge.text.blocks import ITEM
from knowledge.text.sentences import CLUSTER, END, SPACES

ELLIPSIS = "…"
# A line that the next one does not go on with: neither in lower case, nor indented below an item.
_LINE = regex.compile(rf"\n(?=[ \t]*\n|[^\s\p{{Ll}}]|{ITEM.pattern})")
# Groups of digits with one sign or space between them: amounts, dates, times, telephone numbers. What
# has more than ten groups is a list of numbers. And what a list item begins with, up to its first word.
_WHOLE = (
    regex.compile(r"[+\-−]?\p{N}+(?:[.,:/'’٫٬·\-–\x20\u00a0\u2009\u202f]\p{N}+){0,9}[%٪‰]?"),
    regex.compile(rf"(?m)^{ITEM.pattern}"),
)


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters, whole sentences or list items where there are any.

    Units: characters; never ends inside a number or a grapheme, and is empty where only a part of one fits.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    # What stands behind a border decides whether it is one.
    ahead = text[: 2 * limit]
    places = _places(ahead, limit)
    whole = _last(_borders(ahead), places, limit)
    if whole:
        return ahead[:whole]
    # One long sentence: stop between words, else between characters, and show that it goes on.
    places.discard(limit)
    words = (match.start() for match in SPACES.finditer(ahead))
    end = _last(words, places, limit) or max(places, default=0)
    return ahead[:end].rstrip() + ELLIPSIS if end else ""


def pieces(text: str) -> list[tuple[int, int]]:
    """Return where the sentences and list items of a text begin and end; together they hold all of it."""
    ends = sorted({*_borders(text), len(text)} - {0})
    return list(zip([0, *ends], ends, strict=False))


def _borders(text: str) -> Iterable[int]:
    """Return where sentences and lines end, without the space behind them."""
    ends = [match.end() for match in END.finditer(text)]
    ends += [match.start() for match in _LINE.finditer(text)]
    return (_without_space(text, end) for end in ends)


def _without_space(text: str, end: int) -> int:
    # Without a copy of all that stands before, for each border of a long text.
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _places(text: str, limit: int) -> set[int]:
    """Return where text may be cut at all, up to the limit."""
    places = set()
    for match in CLUSTER.finditer(text):
        if match.end() > limit:
            break
        places.add(match.end())
    for match in chain.from_iterable(whole.finditer(text) for whole in _WHOLE):
        places.difference_update(range(match.start() + 1, match.end()))
    return places


def _last(ends: Iterable[int], places: set[int], limit: int) -> int:
    """Return the last of them that leaves a fair part of the text, or 0."""
    last = max(places.intersection(ends), default=0)
    return last if last >= limit // 3 else 0
