"""Reads a structured value digit by digit, in groups short enough to write down."""

import re

_GROUP = 3
_LAST_GROUP = 4
_PARTS = re.compile(r"\+|\d+|[^\W\d_]+")


def grouped(digits: str) -> str:
    """The digits one by one, a comma after each group: "5551234" is "5 5 5, 1 2 3 4".

    Source: ITU-T E.123 (groups of two to four digits); W3C note "SSML 1.0 say-as attribute
    values", interpret-as "telephone"; docs.parloa.com, "say-as" ("800-555-1234" is read in groups
    with pauses); mytwocents.online/category/good-to-know ("say each figure separately in groups").
    """
    return ", ".join(" ".join(group) for group in _groups(digits))


def spoken_as_written(text: str, *, plus: str) -> str:
    """A number whose groups are written: "+971 50 123" is "plus 9 7 1, 5 0, 1 2 3"."""
    parts = _PARTS.findall(text)
    if len(parts) == 1:
        return grouped(parts[0])
    spoken = ", ".join(" ".join(part) if part.isdigit() else part for part in parts)
    return spoken.replace("+, ", f"{plus} ")


def _groups(digits: str) -> list[str]:
    if len(digits) % _LAST_GROUP == 0:
        return [digits[i : i + _LAST_GROUP] for i in range(0, len(digits), _LAST_GROUP)]
    groups = []
    while len(digits) > _LAST_GROUP:
        groups.append(digits[:_GROUP])
        digits = digits[_GROUP:]
    return [*groups, digits]
