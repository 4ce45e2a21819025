"""What the backend may know about the caller's turn besides the queries: short and redacted."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from earmark_worker.languages.folding import words
from earmark_worker.redaction import redact
from earmark_worker.turns import TurnView

LONGEST_CONTEXT = 1_000
LONGEST_QUERY = 500
MOST_QUERIES = 4
MOST_DIGITS = 999
_RECENT_TURNS = 5
# A value the server would refuse is left out here: metadata must never cost the search.
_CALL_VALUES = {
    "country": re.compile(r"[A-Za-z]{2}"),
    "language": re.compile(r"(?=.{2,16}$)[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*"),
    "channel": re.compile(r"[a-z0-9_-]{1,32}"),
}


@dataclass(frozen=True)
class TurnContext:
    """The caller's turn as it leaves the process.

    Shape: `utterance` redacted, at most 1,000 characters together with `call`; `variants` are
    redacted standalone queries made of earlier turns and this one.
    """

    utterance: str
    structured_value_digits: int | None
    call: tuple[tuple[str, str], ...]
    variants: tuple[str, ...]

    @property
    def digest(self) -> str:
        """A name for the context; transcripts that differ in case or punctuation share it."""
        said = [*words(self.utterance), str(self.structured_value_digits), *map(str, self.call)]
        return hashlib.sha256("\x1f".join(said).encode()).hexdigest()[:16]

    def body(self) -> dict[str, object]:
        """The `turn_context` object of a search request."""
        return {
            "utterance": self.utterance,
            "structured_value_digits": self.structured_value_digits,
            "call": dict(self.call),
        }


def capture(
    view: TurnView, call: Mapping[str, object], *, code_patterns: Sequence[str] = ()
) -> TurnContext:
    """The context of the caller's current turn, taken once before a reply is generated."""
    said = view.caller_texts
    first, recent = said[:1], said[-_RECENT_TURNS:]
    redacted = [redact(text, code_patterns=code_patterns) for text in recent]
    opening = [redact(text, code_patterns=code_patterns).text for text in first]
    allowed = _allowed(call)
    room = LONGEST_CONTEXT - len(str(dict(allowed)))
    lengths = [length for turn in redacted for length in turn.lengths]
    return TurnContext(
        utterance=cut(redacted[-1].text, room) if redacted else "",
        structured_value_digits=min(lengths[-1], MOST_DIGITS) if lengths else None,
        call=allowed,
        variants=_variants(opening, [turn.text for turn in redacted[-2:]]),
    )


def fill(queries: Sequence[str], context: TurnContext) -> list[str]:
    """The model's queries, then context variants in the places it left unused."""
    filled: list[str] = []
    for query in [*queries, *context.variants]:
        if query.strip() and words(query) not in [words(seen) for seen in filled]:
            filled.append(cut(query, LONGEST_QUERY))
    return filled[:MOST_QUERIES]


def cut(text: str, limit: int) -> str:
    """The text, shortened at a word border and never inside a redaction marker."""
    if len(text) <= limit:
        return text
    short = text[:limit]
    if "[" in short and "]" not in short[short.rindex("[") :]:
        short = short[: short.rindex("[")]
    elif " " in short:
        short = short[: short.rindex(" ")]
    return short.rstrip()


def _allowed(call: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    values = ((key, str(call.get(key) or "")) for key in _CALL_VALUES)
    return tuple(
        (key, value)
        for key, value in values
        if _CALL_VALUES[key].fullmatch(value) and not redact(value).lengths
    )


def _variants(opening: list[str], recent: list[str]) -> tuple[str, ...]:
    if len(recent) < 2:
        return ()
    previous, last = recent
    variants = (f"{previous} {last}", f"{opening[0]} {last}")
    return tuple(dict.fromkeys(variants))
