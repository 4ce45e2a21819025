"""Tables of HTML: what spans rows or columns stands in each of them, so that every cell is under its heading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import groupby
from typing import Any, Final, TypeAlias

from lxml import html

from knowledge.ingestion.errors import TooLarge
from knowledge.ingestion.limits import MOST_CELLS

Element: TypeAlias = Any  # lxml has no types.
# The cells of a row by their column.
Line: TypeAlias = dict[int, Element]

SPANNED: Final = "//table[.//@rowspan or .//@colspan]"
ROWS: Final = "./tr|./thead/tr|./tbody/tr|./tfoot/tr"
CELLS: Final = "./td|./th"
RULES: Final = "(//td|//th)//text()[contains(., '|')]"
# Tables say 100 or 1,000 where they mean "all of them".
MOST_ACROSS: Final = 100
MOST_DOWN: Final = 65_534
# Longer than this it is a text beside the rows and not a value of each.
LONGEST_VALUE: Final = 500


def spread_cells(tree: Element) -> None:
    """Give every row of the tables that have cells over several a cell for every column.

    Raises: TooLarge
    """
    room = MOST_CELLS
    for table in tree.xpath(SPANNED):
        laid, begins = _laid(table.xpath(ROWS), room)
        room -= sum(len(line) for _, line in laid)
        placed: set[Element] = set()
        for row, line in laid:
            _fill(row, [line.get(column) for column in begins if column <= max(line)], placed)


def escape_rules(tree: Element) -> None:
    """Write a rule inside a cell so that it does not end the cell."""
    for text in tree.xpath(RULES):
        escaped, parent = text.replace("|", "\\|"), text.getparent()
        if text.is_tail:
            parent.tail = escaped
        else:
            parent.text = escaped


def _laid(rows: Iterable[Element], room: int) -> tuple[list[tuple[Element, Line]], list[int]]:
    """Return the rows with what stands in their columns, and the columns in which a cell begins."""
    laid: list[tuple[Element, Line]] = []
    begins: set[int] = set()
    for _, group in groupby(rows, key=lambda row: row.getparent()):
        for row, line in _lines(group, begins):
            room -= len(line)
            if room < 0:
                raise TooLarge(f"A table has more than {MOST_CELLS:,} cells.")
            if line:
                laid.append((row, line))
    return laid, sorted(begins)


def _lines(rows: Iterable[Element], begins: set[int]) -> Iterator[tuple[Element, Line]]:
    # What reaches down into the following rows, and into how many.
    reaching: dict[int, tuple[Element, int]] = {}
    for row in rows:
        line = {column: cell for column, (cell, _) in reaching.items()}
        reaching = {at: (cell, left - 1) for at, (cell, left) in reaching.items() if left > 1}
        column = 0
        for cell in row.xpath(CELLS):
            while column in line:
                column += 1
            begins.add(column)
            down, across = _span(cell, "rowspan", MOST_DOWN), _span(cell, "colspan", MOST_ACROSS)
            for each in range(column, column + across):
                line[each] = cell
                if down > 1:
                    reaching[each] = (cell, down - 1)
        yield row, line


def _span(cell: Element, name: str, most: int) -> int:
    said = cell.get(name, "").strip()[:6]
    span = int(said) if said.isdecimal() else 1
    # A cell of no rows reaches to the end of its part of the table.
    return min(span, most) or (most if name == "rowspan" else 1)


def _fill(row: Element, cells: Sequence[Element | None], placed: set[Element]) -> None:
    for cell in row.xpath(CELLS):
        row.remove(cell)
    for cell in cells:
        row.append(html.Element("td") if cell is None else _placed(cell, placed))


def _placed(cell: Element, placed: set[Element]) -> Element:
    if cell not in placed:
        placed.add(cell)
        for name in ("rowspan", "colspan"):
            cell.attrib.pop(name, None)
        return cell
    is_value = len(cell.text_content()) <= LONGEST_VALUE and cell.find(".//table") is None
    return deepcopy(cell) if is_value else html.Element(cell.tag)
