"""Finds what to replace in a text: the rules in their order, and the telephone numbers.

Source: libphonenumber for telephone numbers.
"""

from collections.abc import Iterator

import phonenumbers

from earmark_worker.speech.digits import spoken_as_written
from earmark_worker.speech.joining import Replacement
from earmark_worker.speech.rules import RULES
from earmark_worker.speech.voices import Voice


def replacements(text: str, voice: Voice) -> Iterator[Replacement]:
    """What to replace, left to right; earlier rules go first where two want the same text."""
    found: list[Replacement] = []
    for rule in RULES:
        if rule.name == "announced":
            found += [r for r in _telephones(text, voice) if _free(r, found)]
        for match in rule.pattern.finditer(text):
            spoken = rule.say(match, voice)
            if spoken is not None:
                candidate = Replacement(match.start(), match.end(), spoken, rule.measure(match))
                found += [candidate] if _free(candidate, found) else []
    yield from sorted(found, key=lambda r: r.start)


def _free(candidate: Replacement, taken: list[Replacement]) -> bool:
    return all(candidate.end <= other.start or other.end <= candidate.start for other in taken)


def _telephones(text: str, voice: Voice) -> Iterator[Replacement]:
    region = voice.region or None
    for found in phonenumbers.PhoneNumberMatcher(text, region):
        spoken = spoken_as_written(found.raw_string, plus=voice.words.plus)
        yield Replacement(found.start, found.end, spoken)
