"""Workbooks: each sheet a section with a table of what its cells show."""

from __future__ import annotations

import io
from datetime import date, datetime, time
from typing import Any
from zipfile import BadZipFile

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from knowledge.ingestion.errors import Malformed
from knowledge.ingestion.readers.parsed import ParsedText, parsed, title_from_name
from knowledge.ingestion.readers.tables import markdown_table
from knowledge.ingestion.readers.zipped import require_office


def read_sheets(name: str, data: bytes) -> ParsedText:
    """Return the sheets in their order; hidden ones are left out.

    Raises: BinaryContent, Encrypted, Malformed, NoText, TooLarge, TooManyEntries
    """
    require_office(data)
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except (InvalidFileException, BadZipFile, KeyError, ValueError) as error:
        raise Malformed from error
    shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    drawn = [(sheet.title, _table(sheet)) for sheet in shown]
    body = "\n\n".join(f"## {title}\n\n{table}" for title, table in drawn if table)
    return parsed(title_from_name(name), body)


def _table(sheet: Any) -> str:
    # Some programs write a wrong extent, and the library would believe it.
    sheet.reset_dimensions()
    return markdown_table(
        [_shown(value) for value in row] for row in sheet.iter_rows(values_only=True)
    )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, datetime) and value.time() == time(0):
        return value.date().isoformat()
    if isinstance(value, datetime | date | time):
        return value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
    return str(value)
