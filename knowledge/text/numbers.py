"""Number words as digits, so that "eight-digit" and "8 digit" share a token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from knowledge.text.normalising import normalise

_UNITS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "pt": "zero um dois três quatro cinco seis sete oito nove dez onze doze",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "ru": "ноль один два три четыре пять шесть семь восемь девять десять",
    "ar": "صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة",
    "hi": "शून्य एक दो तीन चार पाँच छह सात आठ नौ दस",
}
UNITS: Mapping[str, Mapping[str, int]] = {
    language: {word: value for value, word in enumerate(normalise(words).split())}
    for language, words in _UNITS.items()
}
TENS = {
    word: 10 * place
    for place, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
SCALES = {"hundred": 100, "thousand": 1_000}
# Words that far more often are not numbers ("this one", "un", "sei"): they keep their own form.
AMBIGUOUS = {
    "en": {"one"}, "es": {"uno"}, "fr": {"un"}, "pt": {"um"}, "it": {"uno", "sei"}, "nl": {"een"},
    "hi": {"एक", "दो"}, "de": {"null"}, "ar": {"واحد"},
}  # fmt: skip


def is_number_word(word: str, language: str) -> bool:
    """Whether the word can only be a number, so that its digits stand for it in a query."""
    if word in AMBIGUOUS.get(language, ()):
        return False
    return word in UNITS.get(language, ()) or (language == "en" and word in TENS)


def number_at(words: Sequence[str], place: int, language: str) -> tuple[int, int] | None:
    """Return the value of the number word at `place` and how many words it takes, or None.

    Units: English compounds are read ("twenty four", "three hundred"); elsewhere single words.
    """
    word = words[place]
    if word in AMBIGUOUS.get(language, ()):
        return None
    if language == "en":
        return _english(words, place)
    value = UNITS.get(language, {}).get(word)
    return None if value is None else (value, 1)


def _english(words: Sequence[str], place: int) -> tuple[int, int] | None:
    first = words[place]
    following = words[place + 1] if place + 1 < len(words) else ""
    unit = UNITS["en"].get(following, 0)
    if first in TENS:
        joined = 0 < unit < 10
        return TENS[first] + (unit if joined else 0), 2 if joined else 1
    value = UNITS["en"].get(first)
    if value is None:
        return None
    if 0 < value < 100 and following in SCALES:
        return value * SCALES[following], 2
    return value, 1
