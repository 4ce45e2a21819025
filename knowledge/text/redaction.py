"""Takes account numbers, phone numbers and pins out of what a caller said."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import regex

from knowledge.errors import CodeShapeRefused

# Signs that NFKC or a number reader would turn into digits count as digits too.
DIGIT = (
    r"[\p{Nd}\p{Numeric_Type=Digit}\u2460-\u249b\u24ea-\u24ff\u2776-\u2793"
    r"\u3251-\u325f\u32b1-\u32bf]"
)
DASH = r"[\p{Pd}\u2212\u2043]"
GAP = r"[\s\p{Pd}\u2212\u2043\u02d7\p{Cf}\p{Cc}\p{M}]"
# More digits follow, so the few before them are the start of a longer number, not a code.
LONGER = rf"(?!{DASH}?{DIGIT}|{GAP}*{DIGIT}(?:{GAP}*{DIGIT}){{2}})"
CODE = rf"(?<![A-Za-z])[A-Za-z]{{2,}}{DASH}?{DIGIT}(?:{DASH}?{DIGIT}){{0,4}}{LONGER}"
RUN = rf"(?P<run>{DIGIT}(?:{GAP}*{DIGIT}){{3,}})"
MOST_COUNTED = 999
LONGEST_SHAPE = 40
MOST_SHAPES = 100
SHAPE = re.compile(r"[A-Za-z0-9#][A-Za-z0-9#\-_./ ]*")


def redact(text: str, code_patterns: Iterable[str] = ()) -> str:
    """Return the text with digit runs of four or more as `[8-digit structured value]`.

    Shape: spaces and dashes inside a run are part of it. Product codes stay: two letters or more
    with up to five digits glued or hyphenated, and codes of a declared shape (`AA-####`).
    A shape that `refuse_code_shape` would refuse protects nothing.
    """
    pattern = _pattern(tuple(code_patterns))
    return pattern.sub(_counted, text)


def refuse_code_shape(shape: str) -> None:
    """Refuse a declared code shape that is unsafe: one without a letter would let numbers through.

    Raises: CodeShapeRefused
    """
    if not _is_safe(shape):
        raise CodeShapeRefused(shape=shape)


def _is_safe(shape: str) -> bool:
    simple = len(shape) <= LONGEST_SHAPE and SHAPE.fullmatch(shape) is not None
    return simple and "#" in shape and any(c.isalpha() for c in shape) and shape == shape.strip()


@lru_cache(maxsize=256)
def _pattern(shapes: tuple[str, ...]) -> regex.Pattern[str]:
    safe = [shape for shape in shapes if _is_safe(shape)][:MOST_SHAPES]
    declared = [rf"(?<![\p{{L}}\p{{N}}]){_shape(shape)}(?![\p{{L}}]){LONGER}" for shape in safe]
    return regex.compile("|".join([*declared, CODE, RUN]), regex.IGNORECASE)


def _shape(shape: str) -> str:
    signs = {"A": "[A-Za-z]", "#": DIGIT, "-": DASH}
    return "".join(signs.get(sign) or re.escape(sign) for sign in shape)


def _counted(match: regex.Match[str]) -> str:
    run = match["run"]
    if run is None:
        return match[0]
    digits = len(regex.findall(DIGIT, run))
    return f"[{min(digits, MOST_COUNTED)}-digit structured value]"
