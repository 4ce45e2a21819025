"""Presentations: each slide a section, bullets by level, tables and notes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

from pptx import Presentation

from knowledge.ingestion.readers.parsed import ParsedText, parsed, title_from_name
from knowledge.ingestion.readers.runs import LOWERED, PLAIN, RAISED, STRUCK, joined
from knowledge.ingestion.readers.tables import markdown_table
from knowledge.ingestion.readers.zipped import require_office


def read_slides(name: str, data: bytes) -> ParsedText:
    """Return the slides in their order; hidden ones and what is struck out are left out.

    Raises: BinaryContent, Encrypted, Malformed, NoText, TooLarge, TooManyEntries
    """
    require_office(data)
    shown = [slide for slide in Presentation(io.BytesIO(data)).slides if _is_shown(slide)]
    titles = [_title(slide) for slide in shown]
    body = "\n\n".join(part for slide in shown for part in _parts(slide) if part)
    return parsed(next(filter(None, titles), "") or title_from_name(name), body)


def _is_shown(slide: Any) -> bool:
    return bool(slide._element.get("show", "1") not in {"0", "false"})


def _title(slide: Any) -> str:
    shape = slide.shapes.title
    return " ".join(_words(shape.text_frame).split()) if shape is not None else ""


def _parts(slide: Any) -> Iterator[str]:
    title = _title(slide)
    yield f"## {title}" if title else ""
    for shape in _in_reading_order(slide.shapes):
        if shape != slide.shapes.title:
            yield from _shape(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield _words(slide.notes_slide.notes_text_frame).strip()


def _in_reading_order(shapes: Any) -> list[Any]:
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _shape(shape: Any) -> Iterator[str]:
    if hasattr(shape, "shapes"):
        for inner in _in_reading_order(shape.shapes):
            yield from _shape(inner)
    elif getattr(shape, "has_table", False):
        yield markdown_table(_cells(shape.table))
    elif shape.has_text_frame:
        yield _text(shape)


def _cells(table: Any) -> list[list[str]]:
    """What is merged stands in every row and column that it covers."""
    rows = [[_words(cell.text_frame) for cell in row.cells] for row in table.rows]
    for top, row in enumerate(table.rows):
        for left, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                for below in rows[top : top + cell.span_height]:
                    width = len(below[left : left + cell.span_width])
                    below[left : left + width] = [rows[top][left]] * width
    return rows


def _text(shape: Any) -> str:
    said = [(each.level, " ".join(_said(each).split())) for each in shape.text_frame.paragraphs]
    paragraphs = [(level, text) for level, text in said if text]
    if len(paragraphs) == 1 and not paragraphs[0][0]:
        return paragraphs[0][1]
    return "\n".join(f"{'  ' * level}- {text}" for level, text in paragraphs)


def _words(frame: Any) -> str:
    return "\n".join(map(_said, frame.paragraphs))


def _said(paragraph: Any) -> str:
    """A paragraph's text without what is struck out, its raised digits apart."""
    return joined(_run(each) for each in paragraph._p.content_children)


def _run(element: Any) -> tuple[str, str]:
    said = getattr(element, "rPr", None)
    looks: Mapping[str, str] = {} if said is None else said.attrib
    if looks.get("strike", "noStrike") != "noStrike":
        return element.text, STRUCK
    offset = looks.get("baseline", "0")
    kind = PLAIN if offset.strip("0%") == "" else LOWERED if offset.startswith("-") else RAISED
    return element.text, kind
