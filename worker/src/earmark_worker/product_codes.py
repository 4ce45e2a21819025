"""Product codes: the numbers that may leave the process because they name a thing, not a person."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

LONGEST_CODE = 5
_MOST_AFTER = 2
_LONGEST_SHAPE = 40
_SAFE_SHAPE = re.compile(r"[A-Za-z0-9#][A-Za-z0-9#\-_./ ]*")
_LETTERS_BEFORE = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,}[-‐‑–—−]?$")
_DASH = re.compile(r"[-‐‑–—−]")


def declared_spans(text: str, shapes: Iterable[str]) -> list[tuple[int, int]]:
    """Where codes of declared shapes stand in a text.

    Shape: in a shape `A` is a letter, `#` a digit, everything else itself; one without a letter
    or without a digit place protects nothing.
    """
    patterns = [_pattern(shape) for shape in shapes if _is_safe(shape)]
    return [match.span() for pattern in patterns for match in pattern.finditer(text)]


def code_length(before: str, groups: Sequence[str], gaps: Sequence[str]) -> int:
    """How many of the first digit groups of a run form a product code (0: none).

    Shape: up to five digits, glued or hyphenated to at least two Latin letters before them, and
    at most two digits after them in the same run: more would be a longer number that begins so.
    """
    if not _LETTERS_BEFORE.search(before):
        return 0
    size = 1
    while size < len(groups) and _DASH.fullmatch(gaps[size - 1]):
        size += 1
    digits = sum(map(len, groups[:size]))
    after = sum(map(len, groups[size:]))
    return size if digits <= LONGEST_CODE and after <= _MOST_AFTER else 0


def _is_safe(shape: str) -> bool:
    simple = len(shape) <= _LONGEST_SHAPE and _SAFE_SHAPE.fullmatch(shape) is not None
    return simple and "#" in shape and any(char.isalpha() for char in shape)


@lru_cache(maxsize=512)
def _pattern(shape: str) -> re.Pattern[str]:
    signs = {"A": "[A-Za-z]", "#": r"\d", "-": _DASH.pattern}
    body = "".join(signs.get(sign) or re.escape(sign) for sign in shape)
    return re.compile(rf"(?<!\w){body}(?!\w)(?!\W*\d(?:\W*\d){{2}})", re.IGNORECASE)
