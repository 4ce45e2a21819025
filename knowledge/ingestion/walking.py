"""Finding files below what was named, without following a link out of it."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from knowledge.ingestion.errors import LinkLeavesTree, NotAFile, Unreadable
from knowledge.ingestion.readers.formats import CODE, WORDLESS, extension
from knowledge.ingestion.reading import from_os_error

SEPARATOR: Final = "/"
BESIDE: Final = WORDLESS | CODE
# Not content: what version control, systems and packers leave in folders. Dotted names are skipped too.
SKIPPED: Final = frozenset({"__MACOSX", "node_modules", "__pycache__", "Thumbs.db", "desktop.ini"})


@dataclass(frozen=True)
class Found:
    """A file to read: `path` opens it, `name` is its place below what was named, storable."""

    path: str
    name: str
    size: int

    @property
    def folder(self) -> str:
        """Return the place of the folder it lies in."""
        return self.name.rpartition(SEPARATOR)[0]


@dataclass(frozen=True)
class NotFound:
    """Something that lies there and cannot be read; `hides_others` when it may hold more."""

    path: str
    name: str
    error: Unreadable
    hides_others: bool = False


@dataclass(frozen=True)
class Skipped:
    """A file of a kind that holds no text, lying beside documents."""

    kind: str


Finding = Found | NotFound | Skipped


def walk(paths: Iterable[str]) -> Iterator[Finding]:
    """Yield every file named or below a folder named, in a stable order."""
    for path in paths:
        root = os.path.realpath(path)
        try:
            mode = os.stat(root).st_mode
        except OSError as error:
            yield NotFound(
                root, printable(os.path.basename(root)), from_os_error(error), hides_others=True
            )
            continue
        if stat.S_ISDIR(mode):
            yield from _below(root, root)
        else:
            yield found_at(root, printable(os.path.basename(root)))


def printable(name: str) -> str:
    """Return a file's name as text that can be stored: bytes that are no UTF-8 become escapes."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return unicodedata.normalize("NFC", text)


def _below(folder: str, root: str) -> Iterator[Finding]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield NotFound(folder, _name(folder, root), from_os_error(error), hides_others=True)
        return
    for entry in entries:
        if not is_skipped(entry.name):
            yield from _entry(entry, root)


def _entry(entry: os.DirEntry[str], root: str) -> Iterator[Finding]:
    name = _name(entry.path, root)
    if entry.is_symlink():
        yield from _link(entry, name, root)
    elif entry.is_dir(follow_symlinks=False):
        yield from _below(entry.path, root)
    elif extension(entry.name) in BESIDE:
        yield Skipped(extension(entry.name))
    else:
        yield found_at(entry.path, name)


def _link(entry: os.DirEntry[str], name: str, root: str) -> Iterator[Finding]:
    target = os.path.realpath(entry.path)
    if os.path.commonpath([target, root]) != root:
        yield NotFound(entry.path, name, LinkLeavesTree())
    elif os.path.isdir(target):
        # Its files are found in their own place.
        return
    elif extension(entry.name) in BESIDE:
        yield Skipped(extension(entry.name))
    else:
        yield found_at(target, name)


def is_skipped(name: str) -> bool:
    """Whether a part of a file's place is one that is not looked into."""
    return any(part.startswith(".") or part in SKIPPED for part in name.split(SEPARATOR))


def found_at(path: str, name: str) -> Found | NotFound:
    """Return the file at a path, or why it cannot be read."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError as error:
        return NotFound(path, name, from_os_error(error))
    if not stat.S_ISREG(status.st_mode):
        return NotFound(path, name, NotAFile())
    return Found(path, name, status.st_size)


def _name(path: str, root: str) -> str:
    inner = os.path.basename(root) if path == root else os.path.relpath(path, root)
    return printable(inner).replace(os.sep, SEPARATOR)
