"""What in a text is not read as it is written; the sayings say how it is spoken.

Source: libphonenumber for telephone numbers; the patterns follow the forms that W3C's note "SSML
1.0 say-as attribute values" lists.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import phonenumbers

from earmark_worker.speech import sayings
from earmark_worker.speech.digits import spoken_as_written
from earmark_worker.speech.sayings import Voice
from earmark_worker.speech.words import CURRENCIES, SPEECH_WORDS, SYMBOLS, UNITS

# Groups of three, or of two before the last three as in India; CLDR number symbols of the seven.
_GROUP = r"[,.'’٬\u00a0\u202f]"
_NUMBER = rf"\d{{1,3}}(?:{_GROUP}\d{{2,3}})*{_GROUP}\d{{3}}(?:[.,٫]\d+)?(?!\d)|\d+(?:[.,٫]\d+)?"
_SYMBOL = "|".join(map(re.escape, ["$", *SYMBOLS]))
_CODE = "|".join(sorted(CURRENCIES))
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_W = r"[^\W\u3400-\u9fff]"
_END = rf"(?!{_W})"
_HINTS = "|".join(sorted({hint for words in SPEECH_WORDS.values() for hint in words.hints}))
_LONGEST_SPOKEN_ACRONYM = 5
Say = Callable[[re.Match[str], Voice], str | None]


@dataclass(frozen=True)
class Rule:
    """One kind of text and how it is spoken; None means: not this kind after all."""

    name: str
    pattern: re.Pattern[str]
    say: Say


def _rule(name: str, pattern: str, say: Say) -> Rule:
    return Rule(name, re.compile(pattern), say)


_NOT_AFTER = rf"(?<!{_W})(?<![.,])"
_SIGN = rf"(?P<sign>{_NOT_AFTER}[-−])?"
_TOP_LEVEL = "com|org|net|io|ae|de|fr|es|cn|in|co|eu|app"
_YEAR = r"(?:19|20)\d\d"
RULES: tuple[Rule, ...] = (
    _rule("web address", r"(?:https?://|www\.)[^\s<>\"'،。，]+", sayings.address),
    _rule("mail address", r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", sayings.address),
    _rule(
        "host",
        rf"(?<!{_W})(?<!\.)(?:[a-z0-9-]+\.)+(?:{_TOP_LEVEL})(?:/[A-Za-z0-9_./-]*)?{_END}",
        sayings.address,
    ),
    _rule(
        "iso date", r"(?<![\d.-])(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?![\d-])", sayings.iso_date
    ),
    _rule(
        "date",
        r"(?<![\d./])(?P<a>\d{1,2})(?P<s>[./])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})(?![\d/])",
        sayings.written_date,
    ),
    _rule("time", r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])", sayings.as_it_is),
    _rule(
        "amount",
        rf"{_SIGN}(?P<c>{_SYMBOL}|(?<!{_W})(?:{_CODE}))\s?(?P<n>{_NUMBER})",
        sayings.amount,
    ),
    _rule(
        "amount",
        rf"{_SIGN}{_NOT_AFTER}(?P<n>{_NUMBER})\s?(?P<c>{_SYMBOL}|(?:{_CODE}){_END})",
        sayings.amount,
    ),
    _rule(
        "percent",
        rf"{_SIGN}{_NOT_AFTER}(?:(?P<from>\d+)[-–])?(?P<n>{_NUMBER})\s?[%٪％]",
        sayings.percent,
    ),
    _rule(
        "unit",
        rf"{_SIGN}{_NOT_AFTER}(?P<n>{_NUMBER})\s?(?P<u>{_UNIT})(?![/²]){_END}",
        sayings.measured,
    ),
    _rule(
        "product code",
        rf"(?<!{_W})(?<!-)(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])"
        rf"[A-Z0-9]+(?:-[A-Z0-9]+)*(?!-){_END}",
        sayings.product_code,
    ),
    _rule(
        "announced",
        rf"(?<!{_W})(?P<hint>(?i:{_HINTS}){_END})(?P<between>[^\d.!?。！？\n]{{0,15}}?)"
        rf"(?<![\d.,$€£₹¥-])(?P<d>\d{{3,4}})(?![.,:/ -]?\d){_END}",
        sayings.announced,
    ),
    _rule(
        "structured",
        rf"{_NOT_AFTER}\+?\d+(?:[ \u00a0]?[-–/ ][ ]?\d+){{2,}}(?![.,]\d){_END}",
        sayings.structured,
    ),
    _rule(
        "years",
        rf"(?<![\d.,+-])(?P<a>{_YEAR}) ?[-–] ?(?P<b>{_YEAR})(?![\d-])",
        sayings.number_range,
    ),
    _rule(
        "range",
        rf"(?<!{_W})(?<![.,+-])(?P<a>\d{{1,3}}) ?[-–] ?(?P<b>\d{{1,3}})(?!-|[.,]\d){_END}",
        sayings.number_range,
    ),
    _rule("structured", rf"{_NOT_AFTER}\d+(?:[-–/ ]\d{{3,}})*(?![.,]\d){_END}", sayings.structured),
    _rule("negative", rf"(?<!{_W})(?<![.,)])[-−](?P<n>{_NUMBER}){_END}", sayings.negative),
    _rule("number", _NUMBER, sayings.as_it_is),
    _rule("currency", rf"(?<!{_W})(?:{_CODE}){_END}", sayings.currency_alone),
    _rule(
        "initialism",
        rf"(?<!{_W})(?<![&.'-])(?P<letters>[A-Z]{{2,{_LONGEST_SPOKEN_ACRONYM}}})"
        rf"(?P<plural>s?)(?![&'-]|\.\w){_END}",
        sayings.letters,
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
