"""What stands above a later row of a table: the names of its columns, and the heading of its section."""

from __future__ import annotations

import re
from typing import Final

_HEADINGS: Final = re.compile(r"(?m)^ {0,3}#{1,6}[ \t]+\S.*$")


def column_names(above: str, row: str, *, is_whole: bool) -> str:
    """Return the first row of the table that `row` goes on with; empty where it goes on with none.

    Shape: `above` is the text before it, not `is_whole` where that begins later than the body.
    Cost:  linear in the rows above.
    """
    *lines, begun = above.split("\n")
    if not _is_row(begun + row):
        return ""
    first = ""
    # Where the text above begins somewhere, its first line is a part of one.
    for line in reversed(lines if is_whole else lines[1:]):
        if not _is_row(line):
            return first.strip()
        first = line
    return first.strip() if is_whole else ""


def last_heading(above: str) -> str:
    """Return the nearest heading above, with its signs, or nothing."""
    found = _HEADINGS.findall(above)
    return found[-1].strip() if found else ""


def _is_row(line: str) -> bool:
    return line.lstrip()[:1] == "|"
