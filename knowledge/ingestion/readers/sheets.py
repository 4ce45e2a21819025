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
from knowledge.ingestion.readers.parsed import ParsedText, parsed, title_from_name
from knowledge.ingestion.readers.runs import LOWERED, PLAIN, RAISED, STRUCK, joined
from knowledge.ingestion.readers.tables import markdown_table
from knowledge.ingestion.readers.zipped import require_office

KINDS: Final = {"superscript": RAISED, "subscript": LOWERED}


def read_sheets(name: str, data: bytes) -> ParsedText:
    """Return the sheets in their order; hidden ones and what is struck out are left out.

    Raises: BinaryContent, Encrypted, Malformed, NoText, TooLarge, TooManyEntries
    """
    require_office(data)
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, rich_text=True)
    except (InvalidFileException, BadZipFile, KeyError, ValueError) as error:
        raise Malformed from error
    shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    drawn = [(sheet.title, _table(sheet)) for sheet in shown]
    body = "\n\n".join(f"## {title}\n\n{table}" for title, table in drawn if table)
    return parsed(title_from_name(name), body)


def _table(sheet: Any) -> str:
    # Some programs write a wrong extent, and the library would believe it.
    sheet.reset_dimensions()
    return markdown_table([_shown(cell) for cell in row] for row in sheet.iter_rows())


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
