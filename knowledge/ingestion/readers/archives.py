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
        for info, place in zip(archive.infolist(), _names(archive), strict=True):
            if not info.is_dir() and not _is_hidden(place):
                yield from inner.read(place, partial(entry, archive, info), folder=folder)


def _names(archive: zipfile.ZipFile) -> list[str]:
    """Old programs write names in the encoding of their country and say nothing about it.

    All of them are looked at together: one name alone is often too short to tell.
    """
    names = [info.filename for info in archive.infolist()]
    old = [n for n, info in enumerate(archive.infolist()) if not info.flag_bits & UTF8_NAME]
    try:
        decoded = decode("\n".join(names[n] for n in old).encode("cp437")).split("\n")
    except (Unreadable, UnicodeEncodeError):
        decoded = []
    for n, name in zip(old, decoded, strict=False):
        names[n] = name
    return [name.replace("\\", "/").lstrip("/") for name in names]


def _is_hidden(place: str) -> bool:
    names = place.split("/")
    return any((name.startswith(".") and name != "..") or name in SKIPPED for name in names)
