"""The forms under which one word is indexed and asked for."""

from __future__ import annotations

import enum
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from knowledge.text.languages import script_of_character
from knowledge.text.numbers import is_number_word
from knowledge.text.stems import stem
from knowledge.text.stopwords import stopwords


class Role(enum.Enum):
    """When a token counts: always, in the index alone, or in a query that has nothing else."""

    ALWAYS = "always"
    INDEX_ONLY = "index_only"
    COMMON = "common"


class Form(NamedTuple):
    """One token of a text and when it counts."""

    token: str
    role: Role = Role.ALWAYS


ACCENTED_SCRIPTS = frozenset({"Latn", "Grek"})
UNDIVIDED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d"})
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def without_accents(word: str) -> str:
    """Return the word without the accents that people leave out when they type."""
    if word.isascii() or script_of_character(word[0]) not in ACCENTED_SCRIPTS:
        return word
    apart = unicodedata.normalize("NFD", word.translate(UNDIVIDED))
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


def word_forms(word: str, language: str) -> Iterator[Form]:
    """Yield the word itself, its stem, and the spellings by which others may look for it."""
    bare = without_accents(word)
    role = _role(word, language)
    yield Form(bare, role)
    stemmed = stem(word, language) if len(word) > 1 else None
    if stemmed:
        yield Form(stemmed[0] + without_accents(stemmed[1:]), role)
    if bare != word:
        yield from _spellings(word, bare, language)


def _role(word: str, language: str) -> Role:
    if is_number_word(word, language):
        return Role.INDEX_ONLY
    return Role.COMMON if word in stopwords(language) else Role.ALWAYS


def _spellings(word: str, bare: str, language: str) -> Iterator[Form]:
    plain = stem(bare, language)
    if plain:
        yield Form(plain, Role.INDEX_ONLY)
    if language == "de":
        yield Form(without_accents(word.translate(UMLAUTS)), Role.INDEX_ONLY)
