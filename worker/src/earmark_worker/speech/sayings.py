"""How each kind of text is said; every function gets the match of its rule.

Source: W3C note "SSML 1.0 say-as attribute values" for the kinds (date, telephone, characters,
cardinal); CLDR for names.
"""

import re
from dataclasses import dataclass
from datetime import date

from earmark_worker.speech.digits import grouped, spoken_as_written
from earmark_worker.speech.names import currency_name, spoken_date, with_unit
from earmark_worker.speech.words import (
    SPOKEN_CAPITALS,
    SYMBOLS,
    UNITS,
    SpeechWords,
    speech_words,
)


@dataclass(frozen=True)
class Voice:
    """Who speaks: language, the region telephone numbers and dates are read for, and the words."""

    language: str
    region: str
    words: SpeechWords


def voice(language: str, region: str | None = None) -> Voice:
    """The voice of a language tag such as `en`, `en-US` or `ar-AE`."""
    parts = language.replace("_", "-").split("-")
    found = region or (parts[-1].upper() if len(parts) > 1 and len(parts[-1]) == 2 else "")
    base = parts[0].lower()
    return Voice(base, found, speech_words(base))


def address(match: re.Match[str], voice: Voice) -> str:
    """A web or mail address, its signs as words."""
    words = voice.words
    bare = re.sub(r"^https?://", "", match.group())
    tail = re.search(r"[.,;:!?)]*$", bare)
    ending = tail.group() if tail else ""
    body = bare[: len(bare) - len(ending)].rstrip("/")
    signs = {
        ".": words.dot,
        "@": words.at,
        "/": words.slash,
        "-": words.dash,
        "_": words.underscore,
    }
    spoken = re.sub(r"[./@_-]", lambda sign: f" {signs[sign.group()]} ", body)
    long_runs = re.sub(r"\d{5,}", lambda run: grouped(run.group()), spoken)
    return " ".join(long_runs.split()) + ending


def iso_date(match: re.Match[str], voice: Voice) -> str | None:
    """A date as year, month and day."""
    return _date(int(match["y"]), int(match["m"]), int(match["d"]), voice)


def written_date(match: re.Match[str], voice: Voice) -> str | None:
    """A date in figures, in the order of the region."""
    first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
    month_first = voice.region == "US" and second > 0 and match["s"] == "/"
    day, month = (second, first) if month_first and first <= 12 else (first, second)
    if month > 12 >= day:
        day, month = month, day
    return _date(year, month, day, voice)


def _date(year: int, month: int, day: int, voice: Voice) -> str | None:
    try:
        return spoken_date(date(year, month, day), voice.language, voice.region)
    except ValueError:
        return None


def as_it_is(match: re.Match[str], _voice: Voice) -> str:
    """Text that a voice reads well as it stands."""
    return match.group()


def amount(match: re.Match[str], voice: Voice) -> str:
    """An amount of money, the currency after it."""
    number, sign = match["n"], match["sign"] or ""
    minus = f"{voice.words.minus} " if sign else ""
    name = voice.words.dollars if match["c"] == "$" else _named(match["c"], number, voice)
    return f"{minus}{number} {name}"


def _named(symbol: str, number: str, voice: Voice) -> str:
    return currency_name(SYMBOLS.get(symbol, symbol), number, voice.language)


def currency_alone(match: re.Match[str], voice: Voice) -> str:
    """A currency code without an amount."""
    return currency_name(match.group(), "100", voice.language)


def measured(match: re.Match[str], voice: Voice) -> str:
    """A quantity with its unit."""
    minus = f"{voice.words.minus} " if match["sign"] else ""
    return minus + with_unit(match["n"], UNITS[match["u"]], voice.language)


def percent(match: re.Match[str], voice: Voice) -> str:
    """A percentage, or a range of them."""
    minus = f"{voice.words.minus} " if match["sign"] else ""
    number = match["n"]
    if match["from"]:
        number = f"{match['from']} {voice.words.to} {number}"
    return minus + voice.words.percent.format(number)


def number_range(match: re.Match[str], voice: Voice) -> str:
    """From one number to another."""
    return f"{match['a']} {voice.words.to} {match['b']}"


def product_code(match: re.Match[str], _voice: Voice) -> str | None:
    """A code of letters and digits, one by one."""
    code = match.group()
    if not (re.search(r"\d", code) and re.search(r"[A-Z]", code)):
        return None
    parts = re.findall(r"[A-Z]+|\d+", code)
    return ", ".join(" ".join(part) for part in parts)


def structured(match: re.Match[str], voice: Voice) -> str | None:
    """A long number, digit by digit."""
    text = match.group()
    digits = re.sub(r"\D", "", text)
    if len(digits) < 5 and not (text.startswith("0") and len(digits) > 1):
        return None
    return spoken_as_written(text, plus=voice.words.plus)


def announced(match: re.Match[str], voice: Voice) -> str | None:
    """A short number after a word such as "code", digit by digit."""
    if match["hint"].lower() not in voice.words.hints:
        return None
    return match["hint"] + match["between"] + " ".join(match["d"])


def negative(match: re.Match[str], voice: Voice) -> str:
    """A number below zero."""
    return f"{voice.words.minus} {match['n']}"


def letters(match: re.Match[str], _voice: Voice) -> str | None:
    """An initialism, letter by letter; words in capitals stay."""
    letters = match["letters"]
    if letters in SPOKEN_CAPITALS or _is_shouted(match):
        return None
    if len(letters) > 3 and re.search("[AEIOU]", letters):
        return None
    return " ".join(letters) + match["plural"]


def _is_shouted(match: re.Match[str]) -> bool:
    around = match.string[: match.start()].split()[-1:] + match.string[match.end() :].split()[:1]
    capitals = (re.sub(r"\W", "", word) for word in around)
    return any(len(word) > 3 and word.isupper() and word.isalpha() for word in capitals)
