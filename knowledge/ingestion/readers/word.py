"""Word documents: headings, lists and tables survive."""

from __future__ import annotations

import io

import mammoth

from knowledge.ingestion.readers.html import markdown_of
from knowledge.ingestion.readers.markdown import first_heading
from knowledge.ingestion.readers.parsed import ParsedText, parsed, title_from_name
from knowledge.ingestion.readers.zipped import require_office

STYLES = "p[style-name='Title'] => h1:fresh"


def read_word(name: str, data: bytes) -> ParsedText:
    """Return the document as Markdown, without its pictures.

    Raises: BinaryContent, Encrypted, Malformed, NoText, TooLarge, TooManyEntries
    """
    require_office(data)
    pictures = mammoth.images.img_element(lambda _image: {"src": ""})
    page = mammoth.convert_to_html(io.BytesIO(data), convert_image=pictures, style_map=STYLES).value
    body = markdown_of(page)
    return parsed(first_heading(body) or title_from_name(name), body)
