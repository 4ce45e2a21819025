"""What in a text is not read as it is written, and how each is spoken.

Source: W3C note "SSML 1.0 say-as attribute values" for the kinds (date, telephone, characters,
cardinal); CLDR for names; libphonenumber for telephone numbers.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

import phonenumbers

from earmark_worker.speech.digits import grouped, spoken_as_written
from earmark_worker.speech.names import currency_name, spoken_date, with_unit
from earmark_worker.speech.words import (
    CURRENCIES,
    SPEECH_WORDS,
    SPOKEN_CAPITALS,
    SYMBOLS,
    UNITS,
    SpeechWords,
    speech_words,
)

_NUMBER = r"\d{1,3}(?:[,.'’\u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
_SYMBOL = "|".join(map(re.escape, ["$", *SYMBOLS]))
_CODE = "|".join(sorted(CURRENCIES))
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_W = r"[^\W\u3400-\u9fff]"
_END = rf"(?!{_W})"
_HINTS = "|".join(sorted({hint for words in SPEECH_WORDS.values() for hint in words.hints}))
_LONGEST_SPOKEN_ACRONYM = 5


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


Say = Callable[[re.Match[str], Voice], str | None]


@dataclass(frozen=True)
class Rule:
    """One kind of text and how it is spoken; None means: not this kind after all."""

    name: str
    pattern: re.Pattern[str]
    say: Say


def _address(match: re.Match[str], voice: Voice) -> str:
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


def _iso_date(match: re.Match[str], voice: Voice) -> str | None:
    return _date(int(match["y"]), int(match["m"]), int(match["d"]), voice)


def _written_date(match: re.Match[str], voice: Voice) -> str | None:
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


def _as_it_is(match: re.Match[str], _voice: Voice) -> str:
    return match.group()


def _amount(match: re.Match[str], voice: Voice) -> str:
    number, sign = match["n"], match["sign"] or ""
    minus = f"{voice.words.minus} " if sign else ""
    name = voice.words.dollars if match["c"] == "$" else _named(match["c"], number, voice)
    return f"{minus}{number} {name}"


def _named(symbol: str, number: str, voice: Voice) -> str:
    return currency_name(SYMBOLS.get(symbol, symbol), number, voice.language)


def _currency_alone(match: re.Match[str], voice: Voice) -> str:
    return currency_name(match.group(), "100", voice.language)


def _measured(match: re.Match[str], voice: Voice) -> str:
    minus = f"{voice.words.minus} " if match["sign"] else ""
    return minus + with_unit(match["n"], UNITS[match["u"]], voice.language)


def _percent(match: re.Match[str], voice: Voice) -> str:
    minus = f"{voice.words.minus} " if match["sign"] else ""
    number = match["n"]
    if match["from"]:
        number = f"{match['from']} {voice.words.to} {number}"
    return minus + voice.words.percent.format(number)


def _range(match: re.Match[str], voice: Voice) -> str:
    return f"{match['a']} {voice.words.to} {match['b']}"


def _product_code(match: re.Match[str], _voice: Voice) -> str | None:
    code = match.group()
    if not (re.search(r"\d", code) and re.search(r"[A-Z]", code)):
        return None
    parts = re.findall(r"[A-Z]+|\d+", code)
    return ", ".join(" ".join(part) for part in parts)


def _structured(match: re.Match[str], voice: Voice) -> str | None:
    text = match.group()
    digits = re.sub(r"\D", "", text)
    if len(digits) < 5 and not (text.startswith("0") and len(digits) > 1):
        return None
    return spoken_as_written(text, plus=voice.words.plus)


def _announced(match: re.Match[str], voice: Voice) -> str | None:
    if match["hint"].lower() not in voice.words.hints:
        return None
    return match["hint"] + match["between"] + " ".join(match["d"])


def _negative(match: re.Match[str], voice: Voice) -> str:
    return f"{voice.words.minus} {match['n']}"


def _letters(match: re.Match[str], _voice: Voice) -> str | None:
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


def _rule(name: str, pattern: str, say: Say) -> Rule:
    return Rule(name, re.compile(pattern), say)


_NOT_AFTER = rf"(?<!{_W})(?<![.,])"
_SIGN = rf"(?P<sign>{_NOT_AFTER}[-−])?"
_TOP_LEVEL = "com|org|net|io|ae|de|fr|es|cn|in|co|eu|app"
_YEAR = r"(?:19|20)\d\d"
RULES: tuple[Rule, ...] = (
    _rule("web address", r"(?:https?://|www\.)[^\s<>\"'،。，]+", _address),
    _rule("mail address", r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", _address),
    _rule(
        "host",
        rf"(?<!{_W})(?<!\.)(?:[a-z0-9-]+\.)+(?:{_TOP_LEVEL})(?:/[A-Za-z0-9_./-]*)?{_END}",
        _address,
    ),
    _rule("iso date", r"(?<![\d.-])(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?![\d-])", _iso_date),
    _rule(
        "date",
        r"(?<![\d./])(?P<a>\d{1,2})(?P<s>[./])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})(?![\d/])",
        _written_date,
    ),
    _rule("time", r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])", _as_it_is),
    _rule(
        "amount",
        rf"{_SIGN}(?P<c>{_SYMBOL}|(?<!{_W})(?:{_CODE}))\s?(?P<n>{_NUMBER})",
        _amount,
    ),
    _rule(
        "amount",
        rf"{_SIGN}{_NOT_AFTER}(?P<n>{_NUMBER})\s?(?P<c>{_SYMBOL}|(?:{_CODE}){_END})",
        _amount,
    ),
    _rule(
        "percent",
        rf"{_SIGN}{_NOT_AFTER}(?:(?P<from>\d+)[-–])?(?P<n>{_NUMBER})\s?[%٪％]",
        _percent,
    ),
    _rule(
        "unit",
        rf"{_SIGN}{_NOT_AFTER}(?P<n>{_NUMBER})\s?(?P<u>{_UNIT})(?![/²]){_END}",
        _measured,
    ),
    _rule(
        "product code",
        rf"(?<!{_W})(?<!-)(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])"
        rf"[A-Z0-9]+(?:-[A-Z0-9]+)*(?!-){_END}",
        _product_code,
    ),
    _rule(
        "announced",
        rf"(?<!{_W})(?P<hint>(?i:{_HINTS}){_END})(?P<between>[^\d.!?。！？\n]{{0,15}}?)"
        rf"(?<![\d.,$€£₹¥-])(?P<d>\d{{3,4}})(?![.,:/ -]?\d){_END}",
        _announced,
    ),
    _rule(
        "structured",
        rf"{_NOT_AFTER}\+?\d+(?:[ \u00a0]?[-–/ ][ ]?\d+){{2,}}(?![.,]\d){_END}",
        _structured,
    ),
    _rule("years", rf"(?<![\d.,+-])(?P<a>{_YEAR}) ?[-–] ?(?P<b>{_YEAR})(?![\d-])", _range),
    _rule(
        "range",
        rf"(?<!{_W})(?<![.,+-])(?P<a>\d{{1,3}}) ?[-–] ?(?P<b>\d{{1,3}})(?!-|[.,]\d){_END}",
        _range,
    ),
    _rule("structured", rf"{_NOT_AFTER}\d+(?:[-–/ ]\d{{3,}})*(?![.,]\d){_END}", _structured),
    _rule("negative", rf"(?<!{_W})(?<![.,)])[-−](?P<n>{_NUMBER}){_END}", _negative),
    _rule("number", _NUMBER, _as_it_is),
    _rule("currency", rf"(?<!{_W})(?:{_CODE}){_END}", _currency_alone),
    _rule(
        "initialism",
        rf"(?<!{_W})(?<![&.'-])(?P<letters>[A-Z]{{2,{_LONGEST_SPOKEN_ACRONYM}}})"
        rf"(?P<plural>s?)(?![&'-]|\.\w){_END}",
        _letters,
    ),
)


@dataclass(frozen=True)
class Replacement:
    """A piece of the text and what is said for it."""

    start: int
    end: int
    spoken: str


def replacements(text: str, voice: Voice) -> Iterator[Replacement]:
    """What to replace, left to right; earlier rules go first where two want the same text."""
    found: list[Replacement] = []
    for rule in RULES:
        if rule.name == "announced":
            found += [r for r in _telephones(text, voice) if _free(r, found)]
        for match in rule.pattern.finditer(text):
            spoken = rule.say(match, voice)
            if spoken is not None:
                candidate = Replacement(match.start(), match.end(), spoken)
                found += [candidate] if _free(candidate, found) else []
    yield from sorted(found, key=lambda r: r.start)


def _free(candidate: Replacement, taken: list[Replacement]) -> bool:
    return all(candidate.end <= other.start or other.end <= candidate.start for other in taken)


def _telephones(text: str, voice: Voice) -> Iterator[Replacement]:
    region = voice.region or None
    for found in phonenumbers.PhoneNumberMatcher(text, region):
        spoken = spoken_as_written(found.raw_string, plus=voice.words.plus)
        yield Replacement(found.start, found.end, spoken)
