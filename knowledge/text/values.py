"""What a text says about how many digits a value has: "exactly 8 digits", "eight-digit", "٨ أرقام"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import regex

from knowledge.text.languages import guess_language
from knowledge.text.normalising import normalise
from knowledge.text.numbers import UNITS, number_at


class Tells(Enum):
    """How a count is meant."""

    EXACTLY = "exactly"
    OTHERWISE = "otherwise"


@dataclass(frozen=True)
class DigitCount:
    """A number of digits that a text speaks of."""

    digits: int
    tells: Tells


_NOUNS = (
    r"digits?|numerals?|figures?|ارقام|رقما?|خانات|خانه|خانة|d[ií]gitos?|cifras?|ziffern?|ziffrige?[rnsm]?"
    r"|stellige?[rnsm]?|stellen|chiffres?|अंकों?|अंक|位数字|位数|位|цифр[аы]?|значн\w+"
)
_WORD = r"[\p{L}\p{M}]+"
_NOUN = regex.compile(rf"(?:{_NOUNS})(?!\p{{L}})")
_COUNT = regex.compile(rf"(?P<count>\d+|{_WORD}(?:[\s-]{_WORD})?)[\s-]*")
# What before a count, or in the rest of its clause, says that it is not met.
_OTHERWISE = regex.compile(
    r"\b(?:fewer|less|more|longer|shorter|not|isn'?t|isnt|never|without|invalid|wrong|incorrect"
    r"|otherwise|menos|más|mas|no|inv[aá]lid\w+|incorrect\w+|weniger|mehr|kein\w*|nicht|ung[uü]ltig\w*|falsch\w*"
    r"|moins|plus|pas|invalide\w*|incorrect\w*)\b|اقل|اكثر|ليس|غير|خاطي|خطا|कम|ज़्यादा|अधिक|नहीं|ग़लत|गलत"
    r"|少于|多于|不足|超过|不是|错误|无效"
)
_CLAUSE = regex.compile(r"[.;:!?،؛؟。；，,\n()]")
_BEFORE = 40


def digit_counts(text: str, language: str | None = None) -> list[DigitCount]:
    """Return the digit counts that a text speaks of, in their order."""
    spoken = language or guess_language(text) or "en"
    return list(_counts(normalise(text), spoken))


def _counts(normalised: str, language: str) -> Iterator[DigitCount]:
    for noun in _NOUN.finditer(normalised, overlapped=True):
        digits, start = _counted_before(normalised, noun.start(), language)
        if digits:
            yield DigitCount(digits, _tells(normalised, start, noun.end()))


def _counted_before(normalised: str, noun: int, language: str) -> tuple[int | None, int]:
    """Read the number that stands before a noun, and where it begins; some scripts part no words.

    Only so far back as a number reaches: a long run of letters is not tried from each of them.
    """
    for start in range(max(0, noun - _BEFORE), noun):
        match = _COUNT.fullmatch(normalised, start, noun)
        value = _value(match["count"], language) if match else None
        if value:
            return value, start
    return None, noun


def _value(count: str, language: str) -> int | None:
    """Read a number word; beside a word for digits it is one in whatever language it is one."""
    if count.isdecimal():
        return int(count)
    words = count.replace("-", " ").split()
    for spoken in (language, *UNITS):
        for place, word in enumerate(words):
            found = number_at(words, place, spoken)
            value = found[0] if found else UNITS.get(spoken, {}).get(word)
            if value is not None:
                return value
    return None


def _tells(normalised: str, start: int, end: int) -> Tells:
    before = _CLAUSE.split(normalised[max(0, start - _BEFORE) : start])[-1]
    after = _CLAUSE.split(normalised[end : end + _BEFORE])[0]
    return Tells.OTHERWISE if _OTHERWISE.search(f"{before} {after}") else Tells.EXACTLY


def tells_of(text: str, digits: int, language: str | None = None) -> Tells | None:
    """Return what a text says of values of so many digits, or None when it does not speak of them.

    A text that names the count both ways is about the value, so it counts as exact.
    """
    told = {count.tells for count in digit_counts(text, language) if count.digits == digits}
    if not told:
        return None
    return Tells.EXACTLY if Tells.EXACTLY in told else Tells.OTHERWISE
