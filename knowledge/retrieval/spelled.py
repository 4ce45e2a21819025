"""Codes as people spell them aloud: "p p r nine zero eight seven" asks for ppr9087; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import regex

from knowledge.text.languages import guess_language
from knowledge.text.normalising import normalise
from knowledge.text.numbers import UNITS, number_at

_WORDS: Final = regex.compile(r"[\p{L}\p{M}\p{N}]+")
# "oh" is a digit only inside a code.
_ZEROS: Final = frozenset({"oh", "o"})
_LEAST: Final = 2


def with_codes(text: str) -> str:
    """Return the text with each spelled code as one word; as it is where there is none.

    A code is two or more single letters, then two or more numbers.
    """
    words = _WORDS.findall(normalise(text))
    if sum(map(_is_letter, words)) < _LEAST:
        return text
    language = guess_language(text) or "en"
    joined: list[str] = []
    place = 0
    while place < len(words):
        code, end = _code_at(words, place, language)
        joined.append(code or words[place])
        place = end if code else place + 1
    return text if len(joined) == len(words) else " ".join(joined)


def _code_at(words: Sequence[str], place: int, language: str) -> tuple[str, int]:
    border = place
    while border < len(words) and _is_letter(words[border]):
        border += 1
    digits, end = _digits_at(words, border, language)
    if border - place < _LEAST or len(digits) < _LEAST:
        return "", place
    return "".join(words[place:border]) + "".join(digits), end


def _digits_at(words: Sequence[str], place: int, language: str) -> tuple[list[str], int]:
    digits: list[str] = []
    while place < len(words):
        value, length = _digit_at(words, place, language)
        if not length:
            break
        digits.append(value)
        place += length
    return digits, place


def _digit_at(words: Sequence[str], place: int, language: str) -> tuple[str, int]:
    word = words[place]
    if word.isdecimal():
        return word, 1
    if word in _ZEROS:
        return "0", 1
    found = number_at(words, place, language)
    if found:
        return str(found[0]), found[1]
    value = UNITS.get(language, {}).get(word)
    return ("", 0) if value is None else (str(value), 1)


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha()
