"""Archives: every entry is a file of its own."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import partial
from typing import Final

from knowledge.ingestion.errors import Unreadable
from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.readers.nesting import Inner
from knowledge.ingestion.readers.parsed import Reading
from knowledge.ingestion.readers.zipped import entry, opened

UTF8_NAME: Final = 0x800
SKIPPED: Final = frozenset({"__MACOSX", "node_modules"})


def read_archive(name: str, data: bytes, inner: Inner) -> Iterator[Reading]:
    """Yield the texts of every entry, filed in a folder named like the archive.

    Raises: Encrypted, Malformed, TooLarge, TooManyEntries
    """
    folder = name.rpartition("/")[2].rpartition(".")[0]
    with opened(data, inner.nest.budget) as archive:
        for info in archive.infolist():
            place = _name(info)
            if not info.is_dir() and not _is_hidden(place):
                yield from inner.read(place, partial(entry, archive, info), folder=folder)


def _name(info: zipfile.ZipInfo) -> str:
    """Old programs write names in the encoding of their country and say nothing about it."""
    name = info.filename
    if not info.flag_bits & UTF8_NAME and not name.isascii():
        try:
            name = decode(name.encode("cp437"))
        except (Unreadable, UnicodeEncodeError):
            name = info.filename
    return name.replace("\\", "/").lstrip("/")


def _is_hidden(place: str) -> bool:
    names = place.split("/")
    return any((name.startswith(".") and name != "..") or name in SKIPPED for name in names)
