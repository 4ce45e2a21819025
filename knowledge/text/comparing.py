"""Word by word, what differs between two texts; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

_WORDS: Final = re.compile(r"[぀-ヿ㐀-鿿]|[^\s぀-ヿ㐀-鿿]+|\s+")
Change = Literal["same", "removed", "added"]


@dataclass(frozen=True)
class Piece:
    """A run of words that is the same on both sides, or stands on one side only."""

    change: Change
    text: str


@dataclass(frozen=True)
class Compared:
    """Two texts side by side."""

    label: str
    left: tuple[Piece, ...]
    right: tuple[Piece, ...]

    @property
    def differs(self) -> bool:
        """Whether anything is different."""
        return any(piece.change != "same" for piece in (*self.left, *self.right))


def compare(label: str, left: str, right: str) -> Compared:
    """Return both texts cut where they differ; a sign of Chinese or Japanese counts as a word."""
    old, new = _WORDS.findall(left), _WORDS.findall(right)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    lefts: list[Piece] = []
    rights: list[Piece] = []
    for operation, a, b, c, d in matcher.get_opcodes():
        same = operation == "equal"
        _add(lefts, "same" if same else "removed", old[a:b])
        _add(rights, "same" if same else "added", new[c:d])
    return Compared(label, tuple(lefts), tuple(rights))


def _add(pieces: list[Piece], change: Change, words: Sequence[str]) -> None:
    if words:
        pieces.append(Piece(change, "".join(words)))
