"""German writes a number as one word ("dreiundzwanzig"); here it is taken apart.

Source: Duden, Rechtschreibregeln, D 151 (numbers below a million are written as one word).
"""

import re
from functools import lru_cache

from earmark_worker.languages.number_words import NUMBER_WORDS

_PLAIN = NUMBER_WORDS["de"].plain
_MAGNITUDES = {"hundert": 100, "tausend": 1000}
_PART = re.compile(
    "|".join(sorted([*_PLAIN, *_MAGNITUDES, "und"], key=len, reverse=True)),
)


@lru_cache(maxsize=4096)
def compound_value(word: str) -> int | None:
    """The value of a folded German number word of several parts, or None when it is no number."""
    parts = _PART.findall(word)
    if len(parts) < 2 or "".join(parts) != word or parts[0] == "und" or parts[-1] == "und":
        return None
    return _evaluate(parts)


def _evaluate(parts: list[str]) -> int:
    thousands, group, unit = 0, 0, 0
    for part in parts:
        if part == "hundert":
            group, unit = group + (unit or 1) * 100, 0
        elif part == "tausend":
            thousands, group, unit = (group + unit or 1) * 1000, 0, 0
        elif part != "und":
            unit += _PLAIN[part]
    return thousands + group + unit
