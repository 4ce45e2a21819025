"""What in a text is not read as it is written; the sayings say how it is spoken.

Source: the patterns follow the forms that W3C's note "SSML 1.0 say-as attribute values" lists.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from earmark_worker.speech import dates, money, quantities, sayings
from earmark_worker.speech.joining import Measure
from earmark_worker.speech.patterns import (
    CODE,
    END,
    GAP,
    GLUED_SCALE,
    NOT_AFTER,
    NOT_IN_CHAIN,
    NUMBER,
    SIGN,
    SPACE,
    SPACED_NUMBER,
    SPACED_SCALE,
    SYMBOL,
    TAIL,
    TO,
    UNIT,
    WORD,
)
from earmark_worker.speech.voices import Voice
from earmark_worker.speech.words import SPEECH_WORDS

_HINTS = "|".join(sorted({hint for words in SPEECH_WORDS.values() for hint in words.hints}))
_LONGEST_SPOKEN_ACRONYM = 5
_MEASURES = frozenset({"amount", "percent", "unit", "time", "date"})
Say = Callable[[re.Match[str], Voice], str | None]


@dataclass(frozen=True)
class Rule:
    """One kind of text and how it is spoken; None means: not this kind after all."""

    name: str
    pattern: re.Pattern[str]
    say: Say

    def measure(self, match: re.Match[str]) -> Measure | None:
        """What a match measures; None when it cannot be the end of a range."""
        groups = match.groupdict()
        unit = groups.get("c") or groups.get("u") or ""
        return Measure(f"{self.name} {unit}", _value(groups)) if self.name in _MEASURES else None


def _value(groups: dict[str, str | None]) -> float | None:
    number = groups.get("n2") or groups.get("n")
    if number is None or groups.get("k") or groups.get("k2"):
        return None
    is_negative = groups.get("sign") or groups.get("inner")
    return -quantities.value(number) if is_negative else quantities.value(number)


def _rule(name: str, pattern: str, say: Say) -> Rule:
    return Rule(name, re.compile(pattern), say)


_FROM = rf"(?:(?P<from>{SPACED_NUMBER})(?P<dash>{TO}))?"
_TOP_LEVEL = "com|org|net|io|ae|de|fr|es|cn|in|co|eu|app"
_YEAR = r"(?:19|20)\d\d"
_MINUTES = r"(?:[:.]\d{2})?"
RULES: tuple[Rule, ...] = (
    _rule("web address", r"(?:https?://|www\.)[^\s<>\"'،。，]+", sayings.address),
    _rule("mail address", r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", sayings.address),
    _rule(
        "host",
        rf"(?<!{WORD})(?<!\.)(?:[a-z0-9-]+\.)+(?:{_TOP_LEVEL})(?:/[A-Za-z0-9_./-]*)?{END}",
        sayings.address,
    ),
    _rule(
        "account",
        rf"(?<!{WORD})[A-Z]{{2}}[0-9]{{2}}(?: ?[A-Z0-9]{{4}}){{2,7}}(?: ?[A-Z0-9]{{1,3}})?{END}",
        sayings.bank_account,
    ),
    _rule(
        "date",
        r"(?<![\d.-])(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?![\d-])(?:T(?=\d{2}:))?",
        dates.year_first,
    ),
    _rule(
        "date",
        r"(?<![\d./-])(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})(?![\d/])",
        dates.year_first,
    ),
    _rule(
        "date",
        r"(?<![\d./])(?P<a>\d{1,2})(?P<s>[./])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})(?![\d/])",
        dates.written_date,
    ),
    _rule(
        "date",
        rf"(?<![\d./-])(?P<a>\d{{1,2}})(?P<s>-)(?P<b>\d{{1,2}})-(?P<y>{_YEAR})(?![\d/-])",
        dates.written_date,
    ),
    _rule(
        "time",
        rf"(?<!{WORD})(?<![.,:])(?<!\d[-–])(?:(?P<from>\d{{1,2}}{_MINUTES}){TO})?"
        rf"(?P<t>\d{{1,2}}{_MINUTES}){GAP}(?P<half>[AaPp](?:[Mm]|\. ?[Mm]\.)){END}",
        dates.clock,
    ),
    _rule("time", r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])", sayings.as_it_is),
    _rule("price", rf"{NOT_AFTER}(?P<n>\d+)(?P<c>{SYMBOL})(?P<cents>\d+)(?![.,]?\d)", money.price),
    _rule(
        "amount",
        rf"{SIGN}(?:(?:(?<!{WORD})(?P<iso>{CODE}){GAP})?(?P<c>{SYMBOL}|(?<!{WORD})(?:{CODE}))){TAIL}{GAP}"
        rf"(?P<inner>[-−])?(?P<n>{SPACED_NUMBER})(?P<k>{GLUED_SCALE})?"
        rf"(?:(?P<to>{TO})(?P<n2>{SPACED_NUMBER})(?!\d|[-–/.,]\d)(?P<k2>{GLUED_SCALE})?)?"
        rf"(?:{GAP}(?P<code>{CODE}){END}(?!{GAP}\d))?",
        money.amount,
    ),
    _rule(
        "amount",
        rf"{SIGN}{NOT_IN_CHAIN}(?:(?P<n>{SPACED_NUMBER})(?P<k>{SPACED_SCALE})?(?P<to>{TO}))?"
        rf"(?P<n2>{SPACED_NUMBER})(?P<k2>{SPACED_SCALE})?{GAP}(?P<c>{SYMBOL}|(?:{CODE}){END}){TAIL}",
        money.amount,
    ),
    _rule(
        "percent",
        rf"{SIGN}{NOT_IN_CHAIN}{_FROM}(?P<n>{SPACED_NUMBER}){GAP}[%٪％]",
        quantities.percent,
    ),
    _rule(
        "unit",
        rf"{SIGN}{NOT_IN_CHAIN}{_FROM}(?P<n>{SPACED_NUMBER}){GAP}(?P<u>{UNIT})(?![/²]){END}",
        quantities.measured,
    ),
    _rule(
        "unit",
        rf"{SIGN}{NOT_IN_CHAIN}{_FROM}(?P<n>{SPACED_NUMBER})(?P<gap>{SPACE}?)(?P<u>°)(?!\d){END}",
        quantities.degrees,
    ),
    _rule(
        "product code",
        rf"(?<!{WORD})(?<!-)(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])"
        rf"[A-Z0-9]+(?:-[A-Z0-9]+)*(?!-){END}",
        sayings.product_code,
    ),
    _rule(
        "announced",
        rf"(?<!{WORD})(?P<hint>(?i:{_HINTS}){END})(?P<between>[^\d.!?。！？\n]{{0,15}}?)"
        rf"(?<![\d.,$€£₹¥-])(?P<d>\d{{3,4}})(?![.,:/ -]?\d){END}",
        sayings.announced,
    ),
    _rule(
        "structured",
        rf"{NOT_AFTER}\+?\d+(?:[ \u00a0]?[-–/ ][ ]?\d+){{2,}}(?![.,]\d){END}",
        sayings.structured,
    ),
    _rule(
        "years",
        rf"(?<![\d.,+-])(?P<a>{_YEAR}) ?[-–] ?(?P<b>{_YEAR})(?![\d-])",
        quantities.number_range,
    ),
    _rule(
        "range",
        rf"(?<!{WORD})(?<![.,+-])(?P<a>\d{{1,3}}) ?[-–] ?(?P<b>\d{{1,3}})(?!-|[.,]\d){END}",
        quantities.number_range,
    ),
    _rule(
        "structured",
        rf"{NOT_AFTER}(?<!\d-)\d+(?:[-–/ ]\d{{3,}})*(?![.,]\d){END}",
        sayings.structured,
    ),
    _rule("negative", rf"(?<!\)){SIGN}(?P<n>{NUMBER}){END}", quantities.negative),
    _rule("number", NUMBER, sayings.as_it_is),
    _rule("currency", rf"(?<!{WORD})(?:{CODE}){END}", money.currency_alone),
    _rule(
        "initialism",
        rf"(?<!{WORD})(?<![&.'$-])(?P<letters>[A-Z]{{2,{_LONGEST_SPOKEN_ACRONYM}}})"
        rf"(?P<plural>s?)(?![&'-]|\.\w){END}",
        sayings.letters,
    ),
)
