"""Plain text: as it is."""

from __future__ import annotations

from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.readers.parsed import ParsedText, parsed, title_from_name


def read_plain(name: str, data: bytes) -> ParsedText:
    """Return the text of the file under a title made from its name.

    Raises: BinaryContent, UnknownEncoding, NoText, TooLarge
    """
    return parsed(title_from_name(name), decode(data))
