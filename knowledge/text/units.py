"""Divides blocks into the smallest stretches that a passage may be made of."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from knowledge.text.blocks import Block, Kind, blocks
from knowledge.text.sentences import CLUSTER, line_ends, sentence_ends

TokenCounter = Callable[[str], int]
Cutter = Callable[[str], list[int]]

# What multilingual-e5's vocabulary takes, rounded up: a third of a token per letter is usual.
# A word of 15 letters or more is rarely a word: random letters take nearly one token each.
FAMILIAR = "A-Za-z\u00c0-\u10ff\u1e00-\u1fff"
HALVES = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1200-\u139f\u1780-\u17ff]+")
LETTERS = re.compile(f"[{FAMILIAR}]+")
LONG = re.compile("[A-Za-z\u00c0-\u0dff]{15,}")
BLANKS = re.compile(r"\s+")
ANNOUNCING = (":", "：", "﹕")
EMPHASIS = "*_ \t\n"


def estimated_tokens(text: str) -> int:
    """Return at least as many tokens as the local embedder's vocabulary is likely to need."""
    written = text if text.isascii() else unicodedata.normalize("NFKC", text)
    letters, long = _held(LETTERS, written), _held(LONG, written)
    halves = 0 if text.isascii() else _held(HALVES, written)
    others = len(written) - letters - _held(BLANKS, written)
    return others + math.ceil(letters / 3 + long / 2 + halves / 6)


def in_word(character: str) -> bool:
    """Whether the character is a letter, a digit or an accent on one."""
    return unicodedata.category(character)[0] in "LMN"


def _held(pattern: re.Pattern[str], text: str) -> int:
    return len("".join(pattern.findall(text)))


@dataclass(frozen=True, slots=True)
class Room:
    """How much a unit may hold."""

    characters: int
    tokens: int
    count: TokenCounter


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch that is never cut, with the block it comes from."""

    block: Block
    start: int
    end: int
    tokens: int
    announces: bool

    @property
    def size(self) -> int:
        """Characters held."""
        return self.end - self.start


def units(body: str, room: Room) -> Iterator[Unit]:
    """Yield the units of a text in order; together they hold its every character."""
    for block in blocks(body):
        cutters = (
            (sentence_ends, line_ends) if block.kind is Kind.PROSE else (line_ends, sentence_ends)
        )
        for start, end, tokens in _divided(
            body, (block.start, block.end), room, block.kind, cutters
        ):
            yield Unit(block, start, end, tokens, _announces(block, body[start:end]))


def _announces(block: Block, text: str) -> bool:
    if block.kind is Kind.HEADING or (block.kind is Kind.ROW and not block.header):
        return True
    return text.rstrip(EMPHASIS).endswith(ANNOUNCING)


def _divided(
    body: str, span: tuple[int, int], room: Room, kind: Kind, cutters: tuple[Cutter, ...]
) -> Iterator[tuple[int, int, int]]:
    start, end = span
    tokens = room.count(body[start:end])
    fits = tokens <= room.tokens and (kind is not Kind.PROSE or end - start <= room.characters)
    if fits or end - start <= 1:
        yield start, end, tokens
    elif not cutters:
        yield from _sliced(body, span, room)
    else:
        for cut in cutters[0](body[start:end]):
            yield from _divided(body, (start, span[0] + cut), room, kind, cutters[1:])
            start = span[0] + cut


def _sliced(body: str, span: tuple[int, int], room: Room) -> Iterator[tuple[int, int, int]]:
    start, last = span
    while start < last:
        end = min(last, start + max(1, min(room.characters, room.tokens * 3)))
        tokens = room.count(body[start:end])
        while tokens > room.tokens and end - start > 1:
            end = start + (end - start) // 2
            tokens = room.count(body[start:end])
        if end < last:
            end = _at_a_border(body, start, end)
            tokens = room.count(body[start:end])
        yield start, end, tokens
        start = end


def _at_a_border(body: str, start: int, end: int) -> int:
    # Between words when there is a space, else between characters as a reader counts them.
    for place in range(end, start + (end - start) // 2, -1):
        if body[place - 1].isspace():
            return place
    clusters = list(CLUSTER.finditer(body, max(start, end - 64), end + 1))
    border = clusters[-1].start() if clusters else end
    return border if border > start else end
