"""Read out of an instruction or a passage what is needed now, the part that matches before all else; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from knowledge.retrieval.excerpts import ELLIPSIS, cut, pieces
from knowledge.retrieval.steps import Step, first_line, needed
from knowledge.retrieval.types import Focus
from knowledge.text.columns import column_names, last_heading
from knowledge.text.tokens import tokenise

_LEFT_OUT: Final = f"\n{ELLIPSIS}\n"
_BETWEEN: Final = "\n\n"
# Of the room: what a step's first line or a table's first row may take, and the least for another part.
_LEAD: Final = 6
_LEAST: Final = 10


@dataclass(frozen=True)
class Read:
    """An instruction, or the lines of a long one around what was found; then not `is_whole` above."""

    body: str
    near: tuple[int, int]
    is_whole: bool = True


def read_out(read: Read, focus: Focus, limit: int, *, with_prerequisite: bool) -> str:
    """Return the part of an instruction that matches and, in what room is left, its prerequisite.

    Units: `limit` in characters. Order as in the body.
    """
    body = read.body
    found = needed(body, focus, near=read.near)
    if found is None:
        return ""
    matching = _matching(read, found.part, focus, limit)
    left = limit - len(matching) - len(_BETWEEN)
    if not with_prerequisite or found.prerequisite is None or left < limit // _LEAST:
        return matching
    other = cut(found.prerequisite.text(body), left)
    goes_on = found.prerequisite.start > found.part.start
    ordered = (matching, other) if goes_on else (other, matching)
    return _BETWEEN.join(filter(None, ordered))


def passage_out(passage: str, above: str, focus: Focus, limit: int, *, is_whole: bool) -> str:
    """Return a passage; one that goes on with a table has its section and its columns named first.

    Shape: `above` is the text before it, not `is_whole` where that begins later than the body.
    """
    start = 0 if len(passage.strip()) <= limit else _where(passage, focus, _under_lead(limit))
    above, rest = above + passage[:start], passage[start:]
    names = column_names(above, rest, is_whole=is_whole)
    return _under([last_heading(above), names], rest, limit) if names else cut(rest, limit)


def _matching(read: Read, part: Step, focus: Focus, limit: int) -> str:
    """Return a part from its beginning where what matches fits so, else its first line and from there."""
    body, near = read.body, read.near
    begin, end = max(part.start, near[0]), min(part.end, near[1])
    if begin >= end:
        begin, end = part.start, part.end
    head = cut(first_line(body, part), limit // _LEAD)
    room = limit - len(head) - len(_LEFT_OUT)
    start = begin + _where(body[begin:end], focus, _under_lead(room))
    if end - part.start <= limit or start - part.start <= len(head):
        return cut(part.text(body), limit)
    names = column_names(body[:start], body[start : part.end], is_whole=read.is_whole)
    rest = _under([names], body[start : part.end], room)
    return f"{head}{_LEFT_OUT}{rest}" if head else rest


def _where(text: str, focus: Focus, room: int) -> int:
    """Return where to begin, so that the piece with the most of the asked words is within the room."""
    if len(text) <= room:
        return 0
    # Lines that are empty take no room of what is said.
    found = [(end - len(text[begin:end].lstrip()), end) for begin, end in pieces(text)]
    shares = [len(focus.words.intersection(tokenise(text[start:end]))) for start, end in found]
    start, end = found[shares.index(max(shares))]
    # Never behind it, where it takes more than the room by itself.
    return next((begin for begin, _ in found if begin < start and end - begin <= room), start)


def _under_lead(room: int) -> int:
    """Return what a text may take of a room for sure, whatever is put above it."""
    return room - room // _LEAD


def _under(heads: Sequence[str], text: str, limit: int) -> str:
    """Return a text below what names it: the last of the heads for sure, those before it where they fit."""
    room = max(limit - len(text.strip()), limit // _LEAD) - 1
    led = cut(heads[-1], room)
    for head in reversed(heads[:-1]):
        if head and len(head) + len(_BETWEEN) + len(led) <= room:
            led = f"{head}{_BETWEEN}{led}"
    return cut(f"{led}\n{text.strip()}", limit) if led else cut(text, limit)
