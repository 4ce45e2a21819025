"""Cheap, repeatable guesses at the script and the language of a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from knowledge.text.normalising import normalise
from knowledge.text.stopwords import STOPWORDS

# Sorted by first code point: (first, last, ISO 15924 code).
SCRIPTS = (
    (0x0041, 0x024F, "Latn"),
    (0x0370, 0x03FF, "Grek"),
    (0x0400, 0x052F, "Cyrl"),
    (0x0531, 0x058F, "Armn"),
    (0x0590, 0x05FF, "Hebr"),
    (0x0600, 0x06FF, "Arab"),
    (0x0750, 0x077F, "Arab"),
    (0x08A0, 0x08FF, "Arab"),
    (0x0900, 0x097F, "Deva"),
    (0x0980, 0x09FF, "Beng"),
    (0x0A00, 0x0A7F, "Guru"),
    (0x0A80, 0x0AFF, "Gujr"),
    (0x0B00, 0x0B7F, "Orya"),
    (0x0B80, 0x0BFF, "Taml"),
    (0x0C00, 0x0C7F, "Telu"),
    (0x0C80, 0x0CFF, "Knda"),
    (0x0D00, 0x0D7F, "Mlym"),
    (0x0D80, 0x0DFF, "Sinh"),
    (0x0E00, 0x0E7F, "Thai"),
    (0x0E80, 0x0EFF, "Laoo"),
    (0x0F00, 0x0FFF, "Tibt"),
    (0x1000, 0x109F, "Mymr"),
    (0x10A0, 0x10FF, "Geor"),
    (0x1100, 0x11FF, "Hang"),
    (0x1200, 0x139F, "Ethi"),
    (0x1780, 0x17FF, "Khmr"),
    (0x1E00, 0x1EFF, "Latn"),
    (0x1F00, 0x1FFF, "Grek"),
    (0x2E80, 0x2FDF, "Hani"),
    (0x3005, 0x3007, "Hani"),
    (0x3041, 0x30FF, "Kana"),
    (0x3130, 0x318F, "Hang"),
    (0x31F0, 0x31FF, "Kana"),
    (0x3400, 0x4DBF, "Hani"),
    (0x4E00, 0x9FFF, "Hani"),
    (0xAC00, 0xD7FF, "Hang"),
    (0xF900, 0xFAFF, "Hani"),
    (0xFB50, 0xFDFF, "Arab"),
    (0xFE70, 0xFEFE, "Arab"),
    (0xFF21, 0xFF5A, "Latn"),
    (0xFF66, 0xFF9D, "Kana"),
    (0x20000, 0x3FFFF, "Hani"),
)
FIRSTS = [first for first, _, _ in SCRIPTS]
ONLY_LANGUAGE = {
    "Grek": "el", "Armn": "hy", "Hebr": "he", "Beng": "bn", "Guru": "pa", "Gujr": "gu", "Orya": "or",
    "Taml": "ta", "Telu": "te", "Knda": "kn", "Mlym": "ml", "Sinh": "si", "Thai": "th", "Laoo": "lo",
    "Tibt": "bo", "Mymr": "my", "Geor": "ka", "Hang": "ko", "Ethi": "am", "Khmr": "km", "Hani": "zh",
    "Kana": "ja",
}  # fmt: skip
SCRIPT_OF_LANGUAGE = {language: script for script, language in ONLY_LANGUAGE.items()} | {
    **dict.fromkeys(("ru", "uk", "bg", "sr", "mk", "be", "kk"), "Cyrl"),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "ku"), "Arab"),
    **dict.fromkeys(("hi", "mr", "ne", "sa"), "Deva"),
}
LATIN = ("en", "es", "fr", "de", "pt", "it", "nl", "tr", "id", "pl", "sv")
# Letters that speak for a language; a word of the language's list says as much as one of them.
TELLING = {
    "es": "ñ¿¡", "fr": "çœêèù", "de": "ßäöü", "pt": "ãõç", "it": "ìò", "tr": "ğşıç",
    "pl": "łąęśżźćń", "sv": "åäö", "uk": "іїєґ", "sr": "јљњђћџ", "ru": "ыэё", "fa": "پچژگکی",
    "ur": "ٹڈڑںےہھپچگکی", "ar": "ةىكيأإؤ", "mr": "ळ",
}  # fmt: skip
SAMPLE = 2_000
# One such sign is a syllable or a word, so it weighs as much as several letters.
DENSE_SCRIPTS = {"Hani": 3, "Kana": 3, "Hang": 3}
WORDS = re.compile(r"[^\W\d]+(?:'[^\W\d]+)?")


@lru_cache(maxsize=16_384)
def script_of_character(character: str) -> str:
    """Return the ISO 15924 code of a letter's script; `Zyyy` for what belongs to none."""
    place = bisect_right(FIRSTS, ord(character)) - 1
    if place < 0 or not (character.isalpha() or character > "\u0300"):
        return "Zyyy"
    _, last, script = SCRIPTS[place]
    return script if ord(character) <= last else "Zyyy"


def script_of(text: str) -> str:
    """Return the script most of the text is in, or `Zyyy` when it has no letters."""
    counts = _script_counts(text[:SAMPLE])
    return min(counts, key=lambda script: (-counts[script], script), default="Zyyy")


def _script_counts(text: str) -> Mapping[str, int]:
    counts = Counter(map(script_of_character, text))
    counts.pop("Zyyy", None)
    weighed = {script: n * DENSE_SCRIPTS.get(script, 1) for script, n in counts.items()}
    # Japanese mixes both, and only Japanese does.
    if "Kana" in weighed and "Hani" in weighed:
        weighed["Kana"] += weighed.pop("Hani")
    return weighed


def guess_language(text: str) -> str | None:
    """Return the two-letter code of the text's language, or None when nothing tells.

    Cost: looks at the first 2,000 characters only.
    """
    sample = text[:SAMPLE]
    script = script_of(sample)
    if script == "Latn":
        return _best(sample, LATIN, otherwise=None)
    if script == "Cyrl":
        return _best(sample, ("ru", "uk", "sr"), otherwise="ru")
    if script == "Arab":
        return _best(sample, ("ar", "fa", "ur"), otherwise="ar")
    if script == "Deva":
        return _best(sample, ("hi", "mr"), otherwise="hi")
    return ONLY_LANGUAGE.get(script)


def language_code(language: str | None) -> str | None:
    """Return the bare two-letter code of a language tag (`pt-BR` is `pt`)."""
    code = re.split("[-_]", (language or "").strip().lower(), maxsplit=1)[0]
    return None if code in {"", "und", "mul", "zxx"} else code


def _best(sample: str, languages: Iterable[str], *, otherwise: str | None) -> str | None:
    words = WORDS.findall(normalise(sample))
    letters = Counter(sample.lower())
    scores = {each: _score(each, words, letters) for each in languages}
    best = max(scores.values(), default=0.0)
    leaders = [each for each, score in scores.items() if score == best]
    if best == 0 or (otherwise is None and len(leaders) > 1):
        return otherwise
    return leaders[0]


def _score(language: str, words: list[str], letters: Mapping[str, int]) -> float:
    known = STOPWORDS.get(language, frozenset())
    heard = sum(_weight(word) for word in words if word in known)
    return heard + sum(letters[sign] for sign in TELLING.get(language, ""))


@lru_cache(maxsize=4_096)
def _weight(word: str) -> float:
    return 1 / sum(word in known for known in STOPWORDS.values())
