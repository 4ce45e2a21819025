"""Workbooks: each sheet a section with a table of what its cells show."""

from __future__ import annotations

import io
from typing import Any, Final
from zipfile import BadZipFile

from openpyxl import load_workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.utils.exceptions import InvalidFileException

from knowledge.ingestion.errors import Malformed
from knowledge.ingestion.readers.cell_formats import shown
from knowledge.ingestion.readers.hidden_cells import hidden_in
from knowledge.ingestion.readers.parsed import ParsedText, parsed, title_from_name
from knowledge.ingestion.readers.runs import LOWERED, PLAIN, RAISED, STRUCK, joined
from knowledge.ingestion.readers.tables import markdown_table
from knowledge.ingestion.readers.zipped import require_office

KINDS: Final = {"superscript": RAISED, "subscript": LOWERED}


def read_sheets(name: str, data: bytes) -> ParsedText:
    """Return the sheets in their order, without what is hidden or struck out: nobody sees it.

    Raises: BinaryContent, Encrypted, Malformed, NoText, TooLarge, TooManyEntries
    """
    require_office(data)
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, rich_text=True)
    except (InvalidFileException, BadZipFile, KeyError, ValueError) as error:
        raise Malformed from error
    shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    drawn = [(sheet.title, _table(book, sheet)) for sheet in shown]
    body = "\n\n".join(f"## {title}\n\n{table}" for title, table in drawn if table)
    return parsed(title_from_name(name), body)


def _table(book: Any, sheet: Any) -> str:
    # Some programs write a wrong extent, and the library would believe it.
    sheet.reset_dimensions()
    # Read cell by cell, the library tells of no row or column whether it is hidden.
    with book._archive.open(sheet._worksheet_path) as part:
        rows, columns = hidden_in(part)
    return markdown_table(
        [_shown(cell) for place, cell in enumerate(row, 1) if place not in columns]
        for number, row in enumerate(sheet.iter_rows(), 1)
        if number not in rows
    )


def _shown(cell: Any) -> str:
    if cell.value is None:
        return ""
    try:
        font, number_format = cell.font, cell.number_format
    except IndexError:
        font = number_format = None
    if font is not None and font.strike:
        return ""
    if isinstance(cell.value, CellRichText):
        return joined(_run(part) for part in cell.value)
    return shown(cell.value, number_format)


def _run(part: str | TextBlock) -> tuple[str, str]:
    if isinstance(part, str):
        return part, PLAIN
    kind = STRUCK if part.font.strike else KINDS.get(part.font.vertAlign, PLAIN)
    return part.text, kind
