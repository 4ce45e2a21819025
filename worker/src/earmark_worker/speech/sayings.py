"""How addresses, codes, long numbers and initialisms are said; each gets the match of its rule.

Source: W3C note "SSML 1.0 say-as attribute values" for the kinds (telephone, characters, cardinal).
"""

import re

from earmark_worker.speech.currencies import begins_with_money
from earmark_worker.speech.digits import grouped, spoken_as_written
from earmark_worker.speech.voices import Voice
from earmark_worker.speech.words import SPOKEN_CAPITALS

_IBAN_REMAINDER = 1
_IBAN_MODULUS = 97
_BLOCK = 4


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


def as_it_is(match: re.Match[str], _voice: Voice) -> str:
    """Text that a voice reads well as it stands."""
    return match.group()


def product_code(match: re.Match[str], _voice: Voice) -> str | None:
    """A code of letters and digits, one by one."""
    code = match.group()
    if not (re.search(r"\d", code) and re.search(r"[A-Z]", code)):
        return None
    parts = re.findall(r"[A-Z]+|\d+", code)
    return ", ".join(grouped(part) if part.isdecimal() else " ".join(part) for part in parts)


def bank_account(match: re.Match[str], _voice: Voice) -> str | None:
    """An international bank account number in blocks of four, when its check digits are right.

    Source: ISO 13616 (written in blocks of four; check digits after ISO 7064, modulus 97).
    """
    bare = match.group().replace(" ", "")
    turned = bare[_BLOCK:] + bare[:_BLOCK]
    if int("".join(str(int(char, 36)) for char in turned)) % _IBAN_MODULUS != _IBAN_REMAINDER:
        return None
    blocks = (bare[i : i + _BLOCK] for i in range(0, len(bare), _BLOCK))
    return ", ".join(" ".join(block) for block in blocks)


def structured(match: re.Match[str], voice: Voice) -> str | None:
    """A long number, digit by digit; an amount of money stays as it is."""
    text = match.group()
    if begins_with_money(match.string[match.end() :], voice):
        return text
    digits = re.sub(r"\D", "", text)
    if len(digits) < 5 and not (text.startswith("0") and len(digits) > 1):
        return None
    return spoken_as_written(text, plus=voice.words.plus)


def announced(match: re.Match[str], voice: Voice) -> str | None:
    """A short number after a word such as "code", digit by digit."""
    if match["hint"].lower() not in voice.words.hints:
        return None
    return match["hint"] + match["between"] + " ".join(match["d"])


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
