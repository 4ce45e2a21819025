"""Lines of a JSONL file, one at a time and of bounded length."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from typing import BinaryIO, Final

from knowledge.ingestion.errors import NotAFile, TooLarge, Unreadable
from knowledge.ingestion.limits import LONGEST_LINE, MEBIBYTE
from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.reading import FLAGS, from_os_error

WIDE_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def numbered_lines(path: str) -> Iterator[tuple[int, str | Unreadable, int]]:
    """Yield (line number from 1, its text or why it has none, its bytes); blank lines are left out.

    Raises: AccessDenied, FileMissing, NotAFile, Unreadable
    """
    try:
        descriptor = os.open(path, FLAGS)
    except OSError as error:
        raise from_os_error(error) from error
    with os.fdopen(descriptor, "rb") as file:
        try:
            yield from _lines(file)
        except OSError as error:
            raise from_os_error(error) from error


def _lines(file: BinaryIO) -> Iterator[tuple[int, str | Unreadable, int]]:
    if not file.seekable():
        raise NotAFile
    wide = file.read(2) in WIDE_MARKS
    file.seek(0)
    if wide:
        raise Unreadable("Lines of JSON are written in UTF-8.")
    number = 0
    while data := file.readline(LONGEST_LINE + 1):
        number += 1
        if number == 1:
            data = data.removeprefix(codecs.BOM_UTF8)
        if len(data) > LONGEST_LINE:
            yield (
                number,
                TooLarge(f"The line is longer than {LONGEST_LINE // MEBIBYTE} MiB."),
                len(data),
            )
            _skip_line(file)
        elif data.strip():
            yield number, _decoded(data), len(data)


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(MEBIBYTE)) and not rest.endswith(b"\n"):
        pass


def _decoded(data: bytes) -> str | Unreadable:
    try:
        return decode(data)
    except Unreadable as error:
        return error
