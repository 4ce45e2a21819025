"""The pieces that the patterns of the rules are made of."""

import re
from collections.abc import Iterable

from earmark_worker.speech.currencies import CURRENCIES, DOLLAR, SIGNS
from earmark_worker.speech.scales import CJK, LETTERS, WRITTEN
from earmark_worker.speech.words import UNITS


def any_of(forms: Iterable[str]) -> str:
    """A pattern for any of the texts, the longest first."""
    return "|".join(re.escape(form) for form in sorted(forms, key=lambda f: (-len(f), f)))


HAN = r"[\u3400-\u9fff]"
WORD = r"[^\W\u3400-\u9fff]"
END = rf"(?!{WORD})"
MARK = r"\u200e\u200f\u061c"
SPACE = r"[ \u00a0\u2009\u202f]"
GAP = rf"(?:{SPACE}|[{MARK}]){{0,2}}"
# Groups of three, or of two before the last three as in India; CLDR number symbols of the seven.
_GROUP = r"[,.'’٬\u00a0\u2009\u202f]"
_FRACTION = r"(?:[.,٫]\d+)?(?!\d)"
NUMBER = rf"(?:\d{{1,3}}(?:{_GROUP}\d{{2,3}})*{_GROUP}\d{{3}}{_FRACTION}|\d+(?:[.,٫]\d+)?)"
# Before a unit or after a currency, a plain space may part the groups too.
SPACED_NUMBER = rf"(?:\d{{1,3}}(?:{SPACE}\d{{3}})+{_FRACTION}|{NUMBER})"
TO = r"[-–—~～〜]"
NOT_AFTER = rf"(?<!{WORD})(?<![.,])"
NOT_IN_CHAIN = rf"{NOT_AFTER}(?<!\d[-–])"
CODE = any_of(CURRENCIES)
_SHORT_SIGN = "".join(sign for sign in SIGNS if len(sign) == 1)
_MEASURE = rf"[%٪％‰°℃℉{re.escape(_SHORT_SIGN)}]"
# "5%-10%", "100元-200元": a hyphen after a measure is no sign of what follows.
SIGN = (
    rf"(?P<sign>{NOT_AFTER}(?<!{_MEASURE})(?<!{_MEASURE}{SPACE})(?<![^\s{MARK}][{MARK}])"
    rf"(?<!\d[\"'’”′″¢])"
    rf"(?<!\d{HAN})(?<!\d{HAN}{HAN})(?<!\d{HAN}{HAN}{HAN})[-−])?"
)
SYMBOL = rf"(?:(?<!{WORD})[A-Z]{{1,3}}\{DOLLAR}|{any_of(SIGNS)})"
# The CLDR writes the Arabic signs with a full stop and a mark of direction after them.
TAIL = rf"(?:\.?[{MARK}]+)?"
UNIT = any_of(UNITS)
_SCALE_WORDS = any_of(WRITTEN)
_CJK = f"[{''.join(sorted(CJK))}]"
_LETTER = f"[{''.join(sorted(LETTERS))}]"
# "$5 M" may be a million or a size: it counts as a scale here, which the saying leaves alone.
GLUED_SCALE = rf"{_CJK}|{_LETTER}{END}|{SPACE}?(?:{_SCALE_WORDS}){END}|{SPACE}[kKmMbB](?![\w'’-])"
SPACED_SCALE = rf"{SPACE}?(?:{_CJK}|{_SCALE_WORDS}|{_LETTER})"
