"""Words, codes and numbers written as one: kept whole, and also in their parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import regex

from knowledge.text.forms import Form, Role, word_forms
from knowledge.text.numbers import is_number_word

# Scripts that write no spaces between words, and Hangul, whose words carry their particles.
UNSPACED = (
    r"\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}"
    r"\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Hangul}ー"
)
CLUSTERS = regex.compile(r"\P{M}\p{M}*|\p{M}+")
LETTER = rf"[[\p{{L}}\p{{M}}]--[{UNSPACED}]]"
RUNS = regex.compile(rf"(?V1)(?P<letters>{LETTER}+)|(?P<digits>\p{{N}}+)")
CONNECTORS = regex.compile(r"[^\p{L}\p{M}\p{N}]")
JOINING = frozenset("-'_&")
NUMERIC = frozenset(".,:/")
GROUPING = regex.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def unspaced_forms(run: str) -> Iterator[Form]:
    """Yield pairs of neighbouring characters; one alone is yielded for a run of one."""
    signs = CLUSTERS.findall(run)
    if len(signs) == 1:
        yield Form(signs[0])
        return
    # A query of one character has to find it inside longer words.
    for sign in signs:
        yield Form(sign, Role.INDEX_ONLY)
    for first, second in pairwise(signs):
        yield Form(first + second)


def compound_forms(compound: str, language: str) -> Iterator[Form]:
    """Yield the tokens of letters and digits written together, whole and in parts."""
    runs = [(match.lastgroup, match.group()) for match in RUNS.finditer(compound)]
    kinds = {kind for kind, _ in runs}
    parts = [part for _, part in runs]
    if len(runs) == 1:
        yield from _part_forms(parts[0], language)
    elif kinds == {"digits"}:
        yield from _number_forms(compound, parts)
    elif kinds == {"letters"}:
        yield from _joined_words(compound, parts, language)
    else:
        yield from _code_forms(compound, runs, language)


def _part_forms(part: str, language: str) -> Iterator[Form]:
    if part[0].isdecimal():
        yield Form(part)
    else:
        yield from word_forms(part, language)


def _number_forms(number: str, parts: list[str]) -> Iterator[Form]:
    whole = GROUPING.sub("", number)
    precise = bool(NUMERIC & set(number))
    yield Form(whole if precise else "".join(parts))
    for part in parts:
        yield Form(part, Role.INDEX_ONLY if precise else Role.ALWAYS)


def _joined_words(compound: str, parts: list[str], language: str) -> Iterator[Form]:
    connectors = set(CONNECTORS.findall(compound))
    initials = connectors == {"."} and all(len(part) == 1 for part in parts)
    joining = connectors <= JOINING or initials
    if joining and not any(is_number_word(part, language) for part in parts):
        yield from word_forms("".join(parts), language)
    for part in parts:
        if len(part) > 1 or not joining:
            yield from word_forms(part, language)


def _code_forms(compound: str, runs: list[tuple[str | None, str]], language: str) -> Iterator[Form]:
    whole = "".join(part for _, part in runs)
    counts = runs[0][0] == "digits" and bool(CONNECTORS.search(compound))
    # "8-digit" is two words, "PPR-9087" is one name.
    yield Form(whole, Role.INDEX_ONLY if counts else Role.ALWAYS)
    for kind, part in runs:
        if kind == "digits" or len(part) > 1:
            yield from _part_forms(part, language)
