"""Which rows and columns of a sheet nobody sees: folded away, filtered out, hidden."""

from __future__ import annotations

from typing import IO, Any, Final

from openpyxl.xml.functions import iterparse

_YES: Final = frozenset({"1", "true", "on"})
_MOST_COLUMNS: Final = 16_384


def hidden_in(part: IO[bytes]) -> tuple[set[int], set[int]]:
    """Return the numbers of the rows and of the columns that a sheet's part hides, counted from one."""
    rows: set[int] = set()
    columns: set[int] = set()
    number = 0
    for _event, element in iterparse(part):
        name = str(element.tag).rpartition("}")[2]
        if name == "row":
            number = int(element.get("r") or number + 1)
            if _is_hidden(element):
                rows.add(number)
        elif name == "col" and _is_hidden(element):
            last = min(int(element.get("max", 0)), _MOST_COLUMNS)
            columns |= set(range(int(element.get("min", 1)), last + 1))
        if name in {"row", "col"}:
            element.clear()
    return rows, columns


def _is_hidden(element: Any) -> bool:
    return element.get("hidden", "").lower() in _YES
