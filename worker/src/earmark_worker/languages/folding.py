"""One way to compare words: case, accents, Arabic letter variants and vowel signs do not matter."""

import unicodedata
from functools import lru_cache

_ARABIC = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ـ": ""})
_KEEP_VIRAMA = 9


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """The text as it is compared: compatibility forms, lower case, without accents.

    Source: Unicode Standard Annex 15 (normalisation forms). Marks of combining class 0 and 9
    (Devanagari vowel signs and virama) are letters of the word and stay.
    """
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    kept = (char for char in decomposed if not _is_accent(char))
    return unicodedata.normalize("NFC", "".join(kept)).translate(_ARABIC)


def words(text: str) -> tuple[str, ...]:
    """The folded words of a text, without punctuation; every Han character is one word."""
    spaced = "".join(_separate(char) for char in fold(text))
    return tuple(spaced.split())


def is_han(char: str) -> bool:
    """Whether a character is a Chinese ideograph (the circle that stands for zero counts)."""
    return "\u4e00" <= char <= "\u9fff" or "\u3400" <= char <= "\u4dbf" or char == "〇"


def _separate(char: str) -> str:
    if is_han(char):
        return f" {char} "
    return char if unicodedata.category(char)[0] in "LMN" else " "


def _is_accent(char: str) -> bool:
    if unicodedata.category(char) == "Cf":
        return True
    return unicodedata.combining(char) not in (0, _KEEP_VIRAMA)
