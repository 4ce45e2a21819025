"""How long an answer takes when it is spoken, and sentence by sentence what is said; pure."""

from __future__ import annotations

import re
from typing import Final

from knowledge.text.languages import guess_language
from knowledge.text.sentences import sentence_ends

# Words in a minute of calm telephone speech; scripts without spaces count characters.
WORDS_A_MINUTE: Final = {
    "en": 150,
    "ar": 125,
    "de": 130,
    "es": 155,
    "fr": 155,
    "hi": 135,
    "ru": 125,
}
USUAL_WORDS_A_MINUTE: Final = 140
CHARACTERS_A_SECOND: Final = 4.2
PAUSE_S: Final = 0.35
LONG_S: Final = 30.0
_UNSPACED: Final = re.compile("[぀-ヿ㐀-鿿가-힣฀-๿]")
_DIGITS: Final = re.compile(r"\d")
_MARKS: Final = re.compile(r"^[#>\-*\s]+|[*_`]+", re.M)
_ADDRESS: Final = re.compile(r"https?://\S+|\S+@\S+\.\S+")


def spoken(text: str) -> list[str]:
    """Return the sentences a caller hears, without marks of formatting."""
    plain = _MARKS.sub("", text)
    ends = sentence_ends(plain)
    said = (plain[start:end].strip() for start, end in zip([0, *ends], ends, strict=False))
    return [sentence for sentence in said if sentence]


def seconds(text: str, language: str = "") -> int:
    """Return about how many seconds it takes to say a text; a digit takes as long as a word."""
    spoken_language = (language.partition("-")[0] or guess_language(text) or "en").lower()
    pace = WORDS_A_MINUTE.get(spoken_language, USUAL_WORDS_A_MINUTE)
    signs = len(_UNSPACED.findall(text))
    digits = len(_DIGITS.findall(text))
    words = len([word for word in _UNSPACED.sub(" ", text).split() if not _DIGITS.search(word)])
    pauses = PAUSE_S * len(spoken(text))
    return round(signs / CHARACTERS_A_SECOND + (words + digits) * 60 / pace + pauses)


def hard_to_hear(text: str) -> list[str]:
    """Return what of a text does not work by ear: addresses to be spelt out."""
    return _ADDRESS.findall(text)
