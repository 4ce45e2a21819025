"""From files to rows: each file is read in the sandbox, each line of JSON here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.ingestion.errors import Unreadable
from knowledge.ingestion.lines import numbered_lines
from knowledge.ingestion.readers.formats import ROWS, extension
from knowledge.ingestion.readers.parsed import ParsedText
from knowledge.ingestion.rows import Failed, Origin, Row, row_from_line, shortened
from knowledge.ingestion.sandbox import Sandbox
from knowledge.ingestion.walking import Found, NotFound, printable


@dataclass(frozen=True)
class Gathered:
    """A row or failure, and the bytes read for it."""

    row: Row | Failed
    size: int = 0


@dataclass(frozen=True)
class FileDone:
    """Every row of this file has been given."""

    path: str


def gather(found: Found | NotFound, folder: str, sandbox: Sandbox) -> Iterator[Gathered | FileDone]:
    """Yield the rows of one file, then that it is done.

    `folder` is where the file is filed, below the source; it is part of the id of what has none.
    """
    path = printable(found.path)
    if isinstance(found, NotFound):
        known = None if found.hides_others else _id(folder, found.name)
        yield Gathered(Failed(Origin(path), found.error, known))
    elif extension(found.name) in ROWS:
        yield from _lines(found, path)
    else:
        yield from _texts(found, path, folder, sandbox)
    yield FileDone(path)


def _lines(found: Found, path: str) -> Iterator[Gathered]:
    try:
        for number, line, size in numbered_lines(found.path):
            origin = Origin(path, number)
            if isinstance(line, Unreadable):
                yield Gathered(Failed(origin, line), size)
            else:
                yield Gathered(row_from_line(line, origin), size)
    except Unreadable as error:
        yield Gathered(Failed(Origin(path), error))


def _texts(found: Found, path: str, folder: str, sandbox: Sandbox) -> Iterator[Gathered]:
    size = found.size
    try:
        for text in sandbox.read(found.path, found.name):
            yield Gathered(_row(text, found, path, folder), size)
            size = 0
    except Unreadable as error:
        yield Gathered(Failed(Origin(path), error, _id(folder, found.name)), size)


def _row(text: ParsedText, found: Found, path: str, folder: str) -> Row:
    return Row(
        Origin(path),
        _id(folder, found.name),
        text.title,
        text.body,
        folder=found.folder,
        said=text.labels,
    )


def _id(folder: str, name: str) -> str:
    return shortened(f"{folder}/{name}" if folder else name)
