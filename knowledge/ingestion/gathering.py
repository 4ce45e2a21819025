"""From files to rows: each file is read in the sandbox, lines of JSON one at a time here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from knowledge.ingestion.errors import Unreadable
from knowledge.ingestion.lines import numbered_lines
from knowledge.ingestion.readers.formats import ROWS, extension, holds_many
from knowledge.ingestion.readers.json_rows import read_line
from knowledge.ingestion.readers.nesting import INSIDE
from knowledge.ingestion.readers.parsed import FailedPart, Reading
from knowledge.ingestion.remembering import Remembered
from knowledge.ingestion.rows import Failed, Origin, Row, shortened
from knowledge.ingestion.sandbox import Sandbox
from knowledge.ingestion.walking import Found, NotFound, printable


@dataclass(frozen=True)
class Gathered:
    """A row or failure, and the bytes read for it."""

    row: Row | Failed
    size: int = 0


@dataclass(frozen=True)
class FileDone:
    """Every row of this file has been given; `kept` are ids that need not be, as nothing has changed."""

    path: str
    remembered: Remembered | None = None
    kept: tuple[str, ...] = ()
    size: int = 0


def gather(found: Found | NotFound, folder: str, sandbox: Sandbox) -> Iterator[Gathered | FileDone]:
    """Yield the rows of one file, then that it is done.

    `folder` is where the file is filed, below the source; it is part of the id of what has none.
    """
    path = printable(found.path)
    if isinstance(found, NotFound):
        known = None if found.hides_others else _id(folder, found.name)
        yield Gathered(Failed(Origin(path), found.error, known))
    else:
        yield from _rows(found, path, folder, sandbox)
    yield FileDone(path)


def _rows(found: Found, path: str, folder: str, sandbox: Sandbox) -> Iterator[Gathered]:
    # A file of many that fails as a whole hides which ones it holds.
    known = None if holds_many(found.name) else _id(folder, found.name)
    try:
        for reading, size in _readings(found, sandbox):
            yield Gathered(_row(reading, found, path, folder), size)
    except Unreadable as error:
        yield Gathered(Failed(Origin(path), error, known))


def _readings(found: Found, sandbox: Sandbox) -> Iterator[tuple[Reading, int]]:
    if extension(found.name) in ROWS:
        for number, line, size in numbered_lines(found.path):
            if isinstance(line, Unreadable):
                yield FailedPart(line, line=number), size
            else:
                yield read_line(line, number), size
    else:
        yield from _sized(sandbox.read(found.path, found.name), found.size)


def _sized(readings: Iterable[Reading], size: int) -> Iterator[tuple[Reading, int]]:
    for reading in readings:
        yield reading, size
        size = 0


def _row(reading: Reading, found: Found, path: str, folder: str) -> Row | Failed:
    inner = f"{found.name}{INSIDE}{reading.part}" if reading.part else found.name
    external_id = reading.key or _id(folder, inner)
    origin = Origin(f"{path}{INSIDE}{reading.part}" if reading.part else path, reading.line)
    if isinstance(reading, FailedPart):
        known = None if not reading.key and holds_many(inner) else external_id
        return Failed(origin, reading.error, known)
    return Row(
        origin,
        external_id,
        reading.title,
        reading.body,
        folder="/".join(filter(None, (_folder(found), reading.folder))),
        said=reading.labels,
    )


def _folder(found: Found) -> str:
    # Rows say themselves where they belong, wherever their file lies.
    return "" if extension(found.name) in ROWS else found.folder


def _id(folder: str, name: str) -> str:
    return shortened(f"{folder}/{name}" if folder else name)
