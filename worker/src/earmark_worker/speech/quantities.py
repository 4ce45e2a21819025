"""How numbers with a unit, percentages and ranges of numbers are said."""

import re

from earmark_worker.speech.digits import spoken_as_written
from earmark_worker.speech.names import with_unit
from earmark_worker.speech.voices import Voice
from earmark_worker.speech.words import UNITS

_FRACTION = re.compile(r"[.,٫](\d{1,2})$")
_NO_DIGIT = re.compile(r"\D")
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+|\d+|[.!?。！？\n]")
_NEAR = 60
_CODE_PART = 3
_WORDS_TO_A_CODE = 3


def measured(match: re.Match[str], voice: Voice) -> str:
    """A quantity with its unit, or a range of them."""
    return signed(
        match, with_unit(_numbers(match, voice), UNITS[match["u"]], voice.language), voice
    )


def degrees(match: re.Match[str], voice: Voice) -> str:
    """Degrees of something that is not named: the sign stays, a voice knows it."""
    return signed(match, f"{_numbers(match, voice)}{match['gap']}°", voice)


def percent(match: re.Match[str], voice: Voice) -> str:
    """A percentage, or a range of them; a German adjective ("5%ige") stays as it is."""
    if voice.language == "de" and match.string.startswith("ig", match.end()):
        return match.group()
    return signed(match, voice.words.percent.format(_numbers(match, voice)), voice)


def number_range(match: re.Match[str], voice: Voice) -> str:
    """From one number to a higher one; a score and a model number stay as they are."""
    before = _WORD.findall(match.string[: match.start()][-_NEAR:])
    if _is_code(match, before, voice):
        return spoken_as_written(match.group(), plus=voice.words.plus)
    if int(match["a"]) >= int(match["b"]) or _is_label(match, before):
        return match.group()
    return f"{match['a']} {voice.words.to} {match['b']}"


def _is_code(match: re.Match[str], before: list[str], voice: Voice) -> bool:
    is_long = len(match["a"]) == len(match["b"]) == _CODE_PART
    near = before[-_WORDS_TO_A_CODE:] if is_long else before[-1:]
    return any(word.lower() in voice.words.hints for word in near)


def _is_label(match: re.Match[str], before: list[str]) -> bool:
    # "Step 2 - 10 minutes"
    return " " in match.group() and bool(before) and before[-1][0].isupper()


def negative(match: re.Match[str], voice: Voice) -> str | None:
    """A number below zero."""
    return signed(match, match["n"], voice) if match["sign"] else None


def signed(match: re.Match[str], said: str, voice: Voice) -> str:
    """What is said, after the word for minus where the text has the sign."""
    return f"{voice.words.minus} {said}" if match["sign"] else said


def _numbers(match: re.Match[str], voice: Voice) -> str:
    if not match["from"]:
        return match["n"]
    between = f" {voice.words.to} " if rises(match["from"], match["n"]) else match["dash"]
    return f"{match['from']}{between}{match['n']}"


def rises(first: str, second: str) -> bool:
    """Whether the second number is higher; the marks of both are read alike."""
    return value(first) < value(second)


def value(number: str) -> float:
    """What a number amounts to; one or two digits after its last mark are a fraction."""
    fraction = _FRACTION.search(number)
    whole = number[: fraction.start()] if fraction else number
    return float(f"{int(_NO_DIGIT.sub('', whole))}.{fraction[1] if fraction else 0}")
