"""How an amount of money is said: number, scale, then the name of the currency.

Where the sign means several currencies, or the scale several numbers, the text stays as it is.
"""

import re
from dataclasses import dataclass

from earmark_worker.speech.currencies import DOLLAR, currency_of
from earmark_worker.speech.names import currency_name, plural_category
from earmark_worker.speech.quantities import rises, signed
from earmark_worker.speech.scales import Scale, scale_of, scaled
from earmark_worker.speech.voices import Voice

_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
_OF = {"es": "de ", "fr": "de "}
_OF_BEFORE_VOWEL = {"fr": "d'"}
_THOUSAND = "1000"
_CENTS = 2


@dataclass(frozen=True)
class _Number:
    written: str
    scale: Scale | None

    def said(self, voice: Voice) -> str:
        return scaled(self.written, self.scale, voice.language) if self.scale else self.written


def amount(match: re.Match[str], voice: Voice) -> str | None:
    """An amount of money, or a range of amounts, the currency after it."""
    if match.groupdict().get("inner") and match.string[: match.start()].rstrip()[-1:].isdigit():
        return None
    code = _code(match, voice)
    numbers = _numbers(match, voice)
    if code is None or not numbers or _says_what_it_is_of(match, numbers, voice):
        return match.group()
    said = _said(numbers, code, match, voice)
    minus = f"{voice.words.minus} " if match.groupdict().get("inner") else ""
    return signed(match, minus + said, voice)


def price(match: re.Match[str], voice: Voice) -> str:
    """A price with the sign in the place of the decimal mark: "5€50" is "5 euros 50"."""
    if match["c"] != "€" or len(match["cents"]) != _CENTS:
        return match.group()
    return f"{match['n']} {_name(_Number(match['n'], None), 'EUR', voice)} {match['cents']}"


def currency_alone(match: re.Match[str], voice: Voice) -> str:
    """A currency code without an amount."""
    return currency_name(match.group(), "100", voice.language)


def _code(match: re.Match[str], voice: Voice) -> str | None:
    of_sign = currency_of(match["c"], voice)
    stated = match.groupdict().get("iso") or match.groupdict().get("code")
    if stated is None or stated == of_sign:
        return of_sign
    return stated if match["c"] == DOLLAR else None


def _numbers(match: re.Match[str], voice: Voice) -> list[_Number]:
    """The amounts; none when a scale means nothing certain, in the language or in "5m-10"."""
    if match["k"] and match["n2"] and not match["k2"]:
        return []
    numbers = []
    for written, scale in ((match["n"], match["k"]), (match["n2"], match["k2"])):
        found = scale_of(_scale(match, scale), voice.language) if scale else None
        if scale and found is None:
            return []
        numbers += [_Number(written, found)] if written else []
    return numbers


def _scale(match: re.Match[str], scale: str) -> str:
    # A letter apart from the number is a scale only where the currency follows it: "5 M €".
    alone = match["n"] is not None and match.start("c") < match.start("n")
    return scale if alone and len(scale.strip()) == 1 else scale.strip()


def _says_what_it_is_of(match: re.Match[str], numbers: list[_Number], voice: Voice) -> bool:
    scale = numbers[-1].scale
    after = match.string[match.end() :]
    of = voice.language in _OF and re.match(r"\s+(?:de\s|d['’])", after)
    return bool(scale and scale.takes_of and of)


def _said(numbers: list[_Number], code: str, match: re.Match[str], voice: Voice) -> str:
    first, last = numbers[0], numbers[-1]
    is_range = first.scale or last.scale or rises(first.written, last.written)
    if first is last:
        return _named(first, code, match, voice)
    if is_range:
        return f"{first.said(voice)} {voice.words.to} {_named(last, code, match, voice)}"
    if match.start("n") > match.start("c"):
        return f"{_named(first, code, match, voice)}{match['to']}{last.written}"
    return f"{first.written}{match['to']}{_named(last, code, match, voice)}"


def _named(number: _Number, code: str, match: re.Match[str], voice: Voice) -> str:
    name = _name(number, code, voice)
    following = _NEXT_WORD.match(match.string, match.end())
    if following and following[1].lower() in name.lower().split():
        return number.said(voice)
    of = _of(name, voice) if number.scale and number.scale.takes_of else ""
    return f"{number.said(voice)} {of}{name}"


def _name(number: _Number, code: str, voice: Voice) -> str:
    if code != DOLLAR:
        return currency_name(code, _THOUSAND if number.scale else number.written, voice.language)
    is_one = not number.scale and plural_category(number.written, voice.language) == "one"
    return voice.words.dollar if is_one else voice.words.dollars


def _of(name: str, voice: Voice) -> str:
    if name[:1].lower() in "aeiouéh":
        return _OF_BEFORE_VOWEL.get(voice.language, _OF.get(voice.language, ""))
    return _OF.get(voice.language, "")
