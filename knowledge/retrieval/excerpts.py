"""Cut text short without breaking a sentence, a list item, a number or a character; pure."""

from __future__ import annotations

import regex

_BORDER = regex.compile(r"\n+|(?<=[.!?…。！？؟۔।])[\"'”’)\]]*\s+|(?<=[。！？])")
_WORD_BORDER = regex.compile(r"(?<!\d)\s+|\s+(?!\d)")
_GRAPHEME = regex.compile(r"\X")
ELLIPSIS = "…"


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters, whole sentences or list items where there are any.

    Units: characters; never ends inside a number or a grapheme.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    whole = _last_border(text, _BORDER, limit)
    if whole:
        return text[:whole].rstrip()
    # One long sentence: stop between words, else between characters, and show that it goes on.
    end = _last_border(text, _WORD_BORDER, limit - 1)
    return (text[:end] if end else _graphemes(text, limit - 1)).rstrip() + ELLIPSIS


def _last_border(text: str, border: regex.Pattern[str], limit: int) -> int:
    """Return the last border that leaves a fair part of the text, or 0."""
    ends = [match.start() for match in border.finditer(text, 0, limit + 1)]
    return ends[-1] if ends and limit // 3 <= ends[-1] <= limit else 0


def _graphemes(text: str, limit: int) -> str:
    end = 0
    for match in _GRAPHEME.finditer(text, 0):
        if match.end() > limit:
            break
        end = match.end()
    while end and end < len(text) and text[end - 1].isdigit() and text[end].isdigit():
        end -= 1
    return text[:end]
