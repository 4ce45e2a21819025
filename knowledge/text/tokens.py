"""Tokens of the lexical leg: what a text is found by, and what a query asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import regex

from knowledge.text.compounds import LETTER, UNSPACED, compound_forms, unspaced_forms
from knowledge.text.forms import Form, Role
from knowledge.text.languages import guess_language, language_code
from knowledge.text.normalising import normalise
from knowledge.text.numbers import AMBIGUOUS, UNITS, number_at
from knowledge.text.stopwords import stopwords

# GIN keys and array elements stay small; a longer "word" is found by its beginning.
LONGEST_TOKEN = 64
MOST_TOKENS = 2_000
MOST_QUERY_TOKENS = 256

_PART = rf"[[{LETTER}\p{{N}}]--[\p{{M}}]](?:{LETTER}|\p{{N}})*"
PIECES = regex.compile(
    rf"(?V1)(?P<unspaced>[{UNSPACED}][[{UNSPACED}]\p{{M}}]*)"
    rf"|(?P<name>(?<![\p{{L}}\p{{N}}])\p{{L}}{{1,2}}(?:\+\+|\#)(?![\p{{L}}\p{{N}}]))"
    rf"|(?P<compound>{_PART}(?:[-'._&/,:]{_PART})*)"
    rf"|(?P<mark>\p{{M}}+)"
)
PLACEHOLDER = regex.compile(r"\[(\d+)-digit structured value\]")
CODE_LETTERS = regex.compile(r"[a-z]{1,6}")
DIGITS = regex.compile(r"\d+(?:-\d+)*")
# Persian writes these apart, together, or with a joiner that `normalise` takes out.
PERSIAN_PREFIXES = frozenset({"مي", "نمي"})
PERSIAN_SUFFIXES = frozenset({"ها", "هاي", "هايي"})


def tokenise(text: str, language: str | None = None) -> list[str]:
    """Return the distinct tokens under which a text is found, in order of appearance.

    Shape: an exact form is the word itself, a stem starts with "~".
    Units: at most 2,000 tokens of at most 64 characters.
    """
    return _distinct((form.token for form in _forms(text, language)), MOST_TOKENS)


def query_tokens(text: str, language: str | None = None) -> list[str]:
    """Return the distinct tokens a query asks for: without stop words, unless it has no others.

    Units: at most 256 tokens of at most 64 characters.
    """
    forms = list(_forms(PLACEHOLDER.sub(r"\1-digit", text), language))
    asked = [form.token for form in forms if form.role is Role.ALWAYS]
    common = [form.token for form in forms if form.role is Role.COMMON]
    return _distinct(asked or common, MOST_QUERY_TOKENS)


def _distinct(tokens: Iterable[str], most: int) -> list[str]:
    seen: dict[str, None] = {}
    for token in tokens:
        seen.setdefault(token[:LONGEST_TOKEN])
        if len(seen) >= most:
            break
    return list(seen)


def _forms(text: str, language: str | None) -> Iterator[Form]:
    spoken = language_code(language) or guess_language(text) or "en"
    normalised = normalise(text)
    pieces = [(match.lastgroup, match.group()) for match in PIECES.finditer(normalised)]
    words = [piece for _, piece in pieces]
    for place, (kind, piece) in enumerate(pieces):
        yield from _piece_forms(kind, piece, spoken)
        yield from _neighbour_forms(words, place, spoken)
    yield from _number_word_forms(words, spoken)


def _piece_forms(kind: str | None, piece: str, language: str) -> Iterator[Form]:
    if kind == "unspaced":
        yield from unspaced_forms(piece)
    elif kind == "compound" and piece in stopwords(language):
        yield Form(piece.replace("'", ""), Role.COMMON)
    elif kind == "compound":
        yield from compound_forms(piece, language)
    else:
        yield Form(piece)


def _neighbour_forms(words: Sequence[str], place: int, language: str) -> Iterator[Form]:
    # "PPR 9087" and "p p r 9087" are also the code "ppr9087".
    if place == 0:
        return
    word, before = words[place], words[place - 1]
    if before in PERSIAN_PREFIXES or word in PERSIAN_SUFFIXES:
        yield Form(before + word)
    if not DIGITS.fullmatch(word):
        return
    if DIGITS.fullmatch(before):
        yield Form((before + word).replace("-", ""), Role.INDEX_ONLY)
    letters = _letters_before(words, place)
    if CODE_LETTERS.fullmatch(letters):
        short = min(len(letters), len(word)) < 2 or letters in stopwords(language)
        yield Form(letters + word.replace("-", ""), Role.INDEX_ONLY if short else Role.ALWAYS)


def _letters_before(words: Sequence[str], place: int) -> str:
    if len(words[place - 1]) > 1:
        return words[place - 1]
    first = place
    while first > 0 and len(words[first - 1]) == 1 and words[first - 1].isalpha():
        first -= 1
    return "".join(words[max(first, place - 6) : place])


def _number_word_forms(words: Sequence[str], language: str) -> Iterator[Form]:
    parts = [part for word in words for part in word.split("-")]
    place = 0
    while place < len(parts):
        found = number_at(parts, place, language)
        if found:
            yield Form(str(found[0]))
        elif parts[place] in AMBIGUOUS.get(language, ()) and parts[place] in UNITS[language]:
            yield Form(str(UNITS[language][parts[place]]), Role.INDEX_ONLY)
        place += found[1] if found else 1
