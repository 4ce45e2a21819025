"""Zip files, also those inside office documents and books: counted before anything is unpacked."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from knowledge.ingestion.errors import BinaryContent, Encrypted, Malformed, TooLarge, TooManyEntries
from knowledge.ingestion.limits import ARCHIVE_ENTRIES, ARCHIVE_TOTAL, MEBIBYTE

OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")


@dataclass
class Budget:
    """What an archive and all archives inside it may still unpack to."""

    entries: int = ARCHIVE_ENTRIES
    total: int = ARCHIVE_TOTAL

    def spend(self, infos: list[zipfile.ZipInfo]) -> None:
        """Take what these entries say they hold; a reader never yields more than an entry says.

        Raises: TooManyEntries, TooLarge
        """
        self.entries -= len(infos)
        self.total -= sum(info.file_size for info in infos)
        if self.entries < 0:
            raise TooManyEntries(f"It holds more than {ARCHIVE_ENTRIES:,} entries.")
        if self.total < 0:
            raise TooLarge(f"It unpacks to more than {ARCHIVE_TOTAL // MEBIBYTE} MiB.")


@contextmanager
def opened(data: bytes, budget: Budget | None = None) -> Iterator[zipfile.ZipFile]:
    """Open a zip file whose entries are within the budget.

    Raises: Encrypted, Malformed, TooManyEntries, TooLarge
    """
    if data.startswith(OLD_OFFICE):
        raise Encrypted if ENCRYPTED_PACKAGE in data else Malformed("It is an old office file.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            (budget or Budget()).spend(archive.infolist())
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise Malformed from error


def entry(archive: zipfile.ZipFile, name: str | zipfile.ZipInfo) -> bytes:
    """Return the bytes of an entry.

    Raises: Encrypted, Malformed
    """
    try:
        return archive.read(name)
    except RuntimeError as error:
        raise Encrypted from error
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise Malformed from error


def require_office(data: bytes) -> None:
    """Refuse what is no office file, or unpacks to more than one may.

    Raises: BinaryContent, Encrypted, Malformed, TooManyEntries, TooLarge
    """
    with opened(data) as archive:
        if "[Content_Types].xml" not in archive.namelist():
            raise BinaryContent("It is an archive, and no office file.")
