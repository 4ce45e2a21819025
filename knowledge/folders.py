"""The canonical key of a folder: one spelling for browser, selector, validation and retrieval."""

from __future__ import annotations

import unicodedata
from typing import Final

from knowledge.errors import FolderRefused

SEPARATOR: Final = "/"
# The character after the separator: every key below `k` lies between `k/` and `k0`.
AFTER_SEPARATOR: Final = chr(ord(SEPARATOR) + 1)
LONGEST_SEGMENT: Final = 255
# A directory is a row, and this is what the column of its name holds.
LONGEST_DIRECTORY: Final = 200
# A key shares a B-tree row with a vector, and that row has to stay below 2,704 bytes.
LONGEST_KEY: Final = 1_024
# What the columns hold that keys are stored in.
MOST_CHARACTERS: Final = 1_000
DEEPEST: Final = 32
INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINERS: Final = frozenset("\u200c\u200d")


def folder_key(source_slug: str, path: str = "") -> str:
    """Return the key of a folder: the source's slug, then the folder's segments.

    Units: at most 32 segments of 255 characters, 1,000 characters and 1,024 bytes of UTF-8 in all.
    Raises: FolderRefused
    """
    source = segments(source_slug)
    if len(source) != 1:
        raise FolderRefused("A source has one name, without a separator.")
    return _joined((*source, *segments(path)))


def directory_path(path: str) -> str:
    """Return the canonical path of an instruction directory, by the rules of folder keys but for shorter names.

    Raises: FolderRefused
    """
    names = segments(path)
    if any(len(name) > LONGEST_DIRECTORY for name in names):
        raise FolderRefused(f"A directory's name is longer than {LONGEST_DIRECTORY} characters.")
    return _joined(names)


def segments(path: str) -> tuple[str, ...]:
    """Return the names on a path, trimmed and in NFC; empty and "." ones are left out.

    Raises: FolderRefused
    """
    unified = unicodedata.normalize("NFC", path).replace("\\", SEPARATOR)
    names = (name.strip() for name in unified.split(SEPARATOR))
    return tuple(_checked(name) for name in names if name not in {"", "."})


def _checked(name: str) -> str:
    if name == "..":
        raise FolderRefused("A folder path never goes up.")
    if len(name) > LONGEST_SEGMENT:
        raise FolderRefused(f"A folder name is longer than {LONGEST_SEGMENT} characters.")
    if any(unicodedata.category(c) in INVISIBLE and c not in JOINERS for c in name):
        raise FolderRefused("A folder name holds a control character.")
    return name


def _joined(names: tuple[str, ...]) -> str:
    key = SEPARATOR.join(names)
    is_long = len(key) > MOST_CHARACTERS or len(key.encode()) > LONGEST_KEY
    if len(names) > DEEPEST or is_long:
        raise FolderRefused("The folder path is too long.")
    return key


def is_within(key: str, ancestor: str) -> bool:
    """Whether the folder is the other one or lies below it; `billing` does not hold `billing-old`."""
    return key == ancestor or key.startswith(ancestor + SEPARATOR)


def parent(key: str) -> str | None:
    """Return the key of the folder above, or None for the root of a source."""
    above, separator, _ = key.rpartition(SEPARATOR)
    return above if separator else None


def leaf(key: str) -> str:
    """Return the folder's own name; for the root of a source, its slug."""
    return key.rpartition(SEPARATOR)[2]


def source_slug(key: str) -> str:
    """Return the slug of the source the folder belongs to."""
    return key.partition(SEPARATOR)[0]


def ancestors(key: str) -> tuple[str, ...]:
    """Return the keys of every folder above, from the root of the source down."""
    names = key.split(SEPARATOR)
    return tuple(SEPARATOR.join(names[:count]) for count in range(1, len(names)))


def prefix_range(key: str) -> tuple[str, str]:
    """Return (low, high): a key lies below this one exactly when low <= it < high.

    Shape: for text COLLATE "C", `k = key OR (k >= low AND k < high)` is the whole subtree.
    """
    return key + SEPARATOR, key + AFTER_SEPARATOR


def moved(key: str, old: str, new: str) -> str:
    """Return the key after the folder `old` became `new`; keys outside `old` stay as they are.

    Raises: FolderRefused
    """
    if not is_within(key, old):
        return key
    return _joined((*new.split(SEPARATOR), *segments(key[len(old) :])))
