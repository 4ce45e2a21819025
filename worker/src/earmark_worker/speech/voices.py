"""Who speaks: a language, its region and its words."""

from dataclasses import dataclass

from earmark_worker.speech.names import is_known
from earmark_worker.speech.words import SpeechWords, speech_words

_FALLBACK = "en"


@dataclass(frozen=True)
class Voice:
    """Who speaks: language, the region telephone numbers and dates are read for, and the words."""

    language: str
    region: str
    words: SpeechWords


def voice(language: str, region: str | None = None) -> Voice:
    """The voice of a language tag such as `en`, `en-US` or `ar-AE`; English for an unknown one."""
    parts = language.replace("_", "-").split("-")
    found = region or (parts[-1] if len(parts) > 1 and len(parts[-1]) == 2 else "")
    base = parts[0].lower()
    known = base if is_known(base) else _FALLBACK
    return Voice(known, found.upper(), speech_words(known))
