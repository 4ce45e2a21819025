"""Opening a found file without being led elsewhere, and reading it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import Final

from knowledge.ingestion.errors import AccessDenied, FileMissing, NotAFile, TooLarge, Unreadable
from knowledge.ingestion.limits import LARGEST_FILE, LARGEST_TEXT_FILE, MEBIBYTE
from knowledge.ingestion.readers.formats import PACKED, extension, parse
from knowledge.ingestion.readers.parsed import Reading

# A pipe without a writer would block, and a link put there since the walk would lead away.
FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_file(path: str, name: str) -> Iterable[Reading]:
    """Return every text in a file; `name` says what kind it is.

    Raises: Unreadable
    """
    return parse(name, file_bytes(path, largest(name)))


def largest(name: str) -> int:
    """Return how many bytes a file of this name may have; text is denser than documents."""
    return LARGEST_FILE if extension(name) in PACKED else LARGEST_TEXT_FILE


def file_bytes(path: str, most: int) -> bytes:
    """Return the bytes of a regular file of bounded size.

    Raises: AccessDenied, FileMissing, NotAFile, TooLarge, Unreadable
    """
    try:
        descriptor = os.open(path, FLAGS)
    except OSError as error:
        raise from_os_error(error) from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotAFile
        return _bounded(file.read(most + 1), most)


def _bounded(data: bytes, most: int) -> bytes:
    if len(data) > most:
        raise TooLarge(f"It is larger than {most // MEBIBYTE} MiB.")
    return data


def from_os_error(error: OSError) -> Unreadable:
    """Return what the operating system's refusal means here."""
    if isinstance(error, PermissionError):
        return AccessDenied()
    if isinstance(error, FileNotFoundError):
        return FileMissing()
    if isinstance(error, IsADirectoryError):
        return NotAFile()
    return Unreadable(f"The system refused it: {error.strerror or type(error).__name__}.")
