"""PDF: text in reading order, with headings by size, lists and ruled tables."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pdfplumber
from pdfminer.layout import LTChar, LTCurve, LTTextBox
from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfminer.pdfparser import PDFSyntaxError
from pdfminer.psexceptions import PSException
from pdfplumber.utils.exceptions import PdfminerException

from knowledge.ingestion.errors import Encrypted, Malformed, NoText
from knowledge.ingestion.readers.markdown import first_heading
from knowledge.ingestion.readers.parsed import ParsedText, one_line, parsed, title_from_name
from knowledge.ingestion.readers.pdf_layout import Line, Table, written
from knowledge.ingestion.readers.pdf_signs import middle, said
from knowledge.ingestion.readers.right_to_left import is_right_to_left, read_rightly
from knowledge.ingestion.readers.tables import markdown_table

HEADER = 1024
LINE_SETTINGS = {"vertical_strategy": "lines", "horizontal_strategy": "lines"}
# A table has at least two rows and two columns, so at least this many rules.
FEWEST_RULES = 4
MOST_RULES = 5_000
UNKNOWN = re.compile(r"\(cid:\d+\)")
FIRST_UNKNOWN = re.compile(r"^\(cid:\d+\)\s+(?=\w)")
BULLET = 8.0
BESIDE = 30.0


def read_pdf(name: str, data: bytes) -> ParsedText:
    """Return the text of every page; pictures of text are no text.

    Raises: Encrypted, Malformed, NoText, TooLarge
    """
    if b"%PDF-" not in data[:HEADER]:
        raise Malformed("It is no PDF.")
    try:
        with pdfplumber.open(io.BytesIO(data), laparams={}) as document:
            pages = [list(_page(page)) for page in document.pages]
            named = one_line(str((document.metadata or {}).get("Title") or ""))
    except (PdfminerException, PDFSyntaxError, PSException) as error:
        raise _meaning(error) from error
    if not any(pages):
        raise NoText("It holds no text; if it is scanned, run text recognition on it first.")
    body = written(pages)
    return parsed(first_heading(body) or named or title_from_name(name), body)


def _meaning(error: Exception) -> Encrypted | Malformed:
    cause = error.args[0] if isinstance(error, PdfminerException) and error.args else error
    return Encrypted() if isinstance(cause, PDFPasswordIncorrect) else Malformed()


def _page(page: Any) -> Iterator[Line | Table]:
    tables = _tables(page)
    drawn: set[int] = set()
    for line in _lines(page):
        inside = next((n for n, (box, _) in enumerate(tables) if _holds(box, line)), None)
        if inside is None:
            yield line
        elif inside not in drawn:
            drawn.add(inside)
            yield tables[inside][1]
    page.close()


def _tables(page: Any) -> list[tuple[tuple[float, ...], Table]]:
    # Asking the library for its rules would convert every letter of the page as well.
    rules = sum(isinstance(each, LTCurve) for each in page.layout)
    if not FEWEST_RULES <= rules <= MOST_RULES:
        return []
    found = []
    for table in page.find_tables(LINE_SETTINGS):
        rows = [[_cell(cell or "") for cell in row] for row in table.extract()]
        if len(rows) > 1 and max(map(len, rows)) > 1:
            found.append((table.bbox, Table(markdown_table(rows))))
    return found


def _cell(text: str) -> str:
    if not is_right_to_left(text):
        return text
    return "\n".join(map(read_rightly, text.split("\n")))


def _holds(box: tuple[float, ...], line: Line) -> bool:
    left, top, right, bottom = box
    return left <= line.middle <= right and top <= (line.top + line.bottom) / 2 <= bottom


def _lines(page: Any) -> Iterator[Line]:
    height = float(page.height)
    bullets = _drawn_bullets(page)
    for number, box in enumerate(each for each in page.layout if isinstance(each, LTTextBox)):
        for line in box:
            signs = [sign for sign in line if isinstance(sign, LTChar) and sign.get_text().strip()]
            text = _legible(said(line, signs))
            if signs and text:
                top, bottom = height - line.y1, height - line.y0
                bullet = any(_is_before(line.x0, top, bottom, dot) for dot in bullets)
                yield Line(
                    text=f"- {text}" if bullet else text,
                    size=round(middle(sign.size for sign in signs), 1),
                    is_bold=all("bold" in sign.fontname.lower() for sign in signs),
                    block=number,
                    top=top,
                    bottom=bottom,
                    middle=(line.x0 + line.x1) / 2,
                    height=height,
                )


def _legible(text: str) -> str:
    """Glyphs whose letter the file does not tell are left out; one before a line is its bullet."""
    named = UNKNOWN.sub("", FIRST_UNKNOWN.sub("- ", text.strip()))
    return " ".join(named.split())


def _drawn_bullets(page: Any) -> list[tuple[float, float]]:
    """Some programs draw their bullets instead of writing them: small shapes beside a line."""
    height = float(page.height)
    small = (
        each
        for each in page.layout
        if isinstance(each, LTCurve) and 0 < each.width < BULLET and 0 < each.height < BULLET
    )
    return [(each.x1, height - (each.y0 + each.y1) / 2) for each in islice(small, MOST_RULES)]


def _is_before(left: float, top: float, bottom: float, dot: tuple[float, float]) -> bool:
    return 0 <= left - dot[0] < BESIDE and top <= dot[1] <= bottom
