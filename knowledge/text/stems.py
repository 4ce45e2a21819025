"""Word stems by language, marked so that they never pass for a word."""

from __future__ import annotations

import threading
from functools import lru_cache

import snowballstemmer

from knowledge.text.languages import SCRIPT_OF_LANGUAGE, script_of_character

MARK = "~"
ALGORITHMS = {
    "en": "english", "es": "spanish", "fr": "french", "de": "german", "pt": "portuguese",
    "it": "italian", "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian",
    "nb": "norwegian", "fi": "finnish", "hu": "hungarian", "ro": "romanian", "tr": "turkish",
    "id": "indonesian", "pl": "polish", "cs": "czech", "ca": "catalan", "eu": "basque",
    "ga": "irish", "lt": "lithuanian", "et": "estonian", "eo": "esperanto", "ru": "russian",
    "sr": "serbian", "el": "greek", "hy": "armenian", "ar": "arabic", "fa": "persian",
    "hi": "hindi", "ne": "nepali", "ta": "tamil", "yi": "yiddish", "st": "sesotho",
}  # fmt: skip
LANGUAGE_OF_SCRIPT = {
    "Latn": "en", "Cyrl": "ru", "Arab": "ar", "Deva": "hi", "Grek": "el", "Armn": "hy", "Taml": "ta",
}  # fmt: skip
# The Persian rules are written for the letters that `normalise` folds into the Arabic ones.
PERSIAN = str.maketrans("يك", "یک")
# The "light10" affixes. Snowball's Arabic rules need the letters that `normalise` has unified.
ARABIC_PREFIXES = ("وال", "بال", "كال", "فال", "لل", "ال", "و")
ARABIC_SUFFIXES = ("ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي")
LONGEST_WORD = 40
_stemmers = threading.local()


def stem(word: str, language: str | None) -> str | None:
    """Return the marked stem of a normalised word, or None when its language has no rules.

    A word in a script other than the language's is read in that script's commonest language:
    product names stay English inside an Arabic page.
    """
    script = script_of_character(word[:1] or " ")
    spoken = language or ""
    if SCRIPT_OF_LANGUAGE.get(spoken, "Latn") != script or spoken not in ALGORITHMS:
        spoken = LANGUAGE_OF_SCRIPT.get(script, "") if _unknown(spoken, script) else ""
    if spoken not in ALGORITHMS or len(word) > LONGEST_WORD:
        return None
    return MARK + _stemmed(word, spoken)


def _unknown(language: str, script: str) -> bool:
    # A language of this very script that has no rules (Urdu, Vietnamese) is not read as another.
    return not language or SCRIPT_OF_LANGUAGE.get(language, "Latn") != script


@lru_cache(maxsize=65_536)
def _stemmed(word: str, language: str) -> str:
    if language == "ar":
        return _light_arabic(word)
    # A stemmer keeps its place in itself, so every thread has its own.
    known = _stemmers.__dict__
    if language not in known:
        known[language] = snowballstemmer.stemmer(ALGORITHMS[language])
    written = word.translate(PERSIAN) if language == "fa" else word
    return str(known[language].stemWord(written)) or word


def _light_arabic(word: str) -> str:
    for prefix in ARABIC_PREFIXES:
        left = word.removeprefix(prefix)
        if left != word and len(left) >= max(2, 4 - len(prefix)):
            word = left
            break
    for suffix in ARABIC_SUFFIXES:
        left = word.removesuffix(suffix)
        if left != word and len(left) >= 2:
            word = left
    return word
