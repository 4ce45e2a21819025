"""Presentations: each slide a section, bullets by level, tables and notes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from pptx import Presentation

from knowledge.ingestion.readers.parsed import ParsedText, parsed, title_from_name
from knowledge.ingestion.readers.tables import markdown_table
from knowledge.ingestion.readers.zipped import require_office


def read_slides(name: str, data: bytes) -> ParsedText:
    """Return the slides in their order; hidden ones are left out.

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
    return " ".join(shape.text_frame.text.split()) if shape is not None else ""


def _parts(slide: Any) -> Iterator[str]:
    title = _title(slide)
    yield f"## {title}" if title else ""
    for shape in _in_reading_order(slide.shapes):
        if shape != slide.shapes.title:
            yield from _shape(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield slide.notes_slide.notes_text_frame.text.strip()


def _in_reading_order(shapes: Any) -> list[Any]:
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _shape(shape: Any) -> Iterator[str]:
    if hasattr(shape, "shapes"):
        for inner in _in_reading_order(shape.shapes):
            yield from _shape(inner)
    elif getattr(shape, "has_table", False):
        yield markdown_table([[cell.text for cell in row.cells] for row in shape.table.rows])
    elif shape.has_text_frame:
        yield _text(shape)


def _text(shape: Any) -> str:
    paragraphs = [paragraph for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()]
    if len(paragraphs) == 1 and not paragraphs[0].level:
        return str(paragraphs[0].text.strip())
    return "\n".join(f"{'  ' * each.level}- {' '.join(each.text.split())}" for each in paragraphs)
