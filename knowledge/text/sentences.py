"""Where sentences end, in the scripts our callers write."""

from __future__ import annotations

import regex

# A full stop after these, before a space, ends no sentence.
ABBREVIATIONS = (
    r"dr|mr|mrs|ms|prof|st|no|nr|tel|ext|approx|ca|vs|e\.g|i\.e|bzw|z\.b|art|fig|vol|p|pp|sr|sra|dra"
    r"|núm|pág|т\.е|ул|д"
)
_CLOSERS = r"[\"'”’»)\]」』】）]*"
END = regex.compile(
    rf"(?V1)(?:(?<!\b(?i:{ABBREVIATIONS}))\.|[!?…؟۔։።။។।॥]){_CLOSERS}(?:\s+(?!\p{{Ll}})|\Z)"
    rf"|[。！？｡]+{_CLOSERS}\s*"
    r"|\n[ \t]*\n\s*"
)
SPACES = regex.compile(r"\s+")
CLUSTER = regex.compile(r"\X")


def sentence_ends(text: str) -> list[int]:
    """Return the offset after each sentence and the space behind it; the last is len(text)."""
    ends = [match.end() for match in END.finditer(text)]
    return ends if ends and ends[-1] == len(text) else [*ends, len(text)]


def line_ends(text: str) -> list[int]:
    """Return the offset after each line break; the last is len(text)."""
    ends = [place + 1 for place, sign in enumerate(text) if sign == "\n"]
    return ends if ends and ends[-1] == len(text) else [*ends, len(text)]


def word_ends(text: str) -> list[int]:
    """Return the offset after each word and its space; the last is len(text)."""
    ends = [match.end() for match in SPACES.finditer(text)]
    return ends if ends and ends[-1] == len(text) else [*ends, len(text)]
