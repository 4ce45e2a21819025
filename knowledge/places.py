"""What a tree shows: places that open, the entries in them, and a page of entries."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from uuid import UUID

from knowledge.errors import CursorRefused

PER_PAGE: Final = 50
MOST_COUNTED: Final = 1_000
# The key of an entry begins with one of these.
CONTAINER: Final = "c:"
ROW: Final = "r:"
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether the database can hold a text at all."""
    return not _UNSTORABLE.search(text)


@dataclass(frozen=True)
class Step:
    """A container on the way down to an entry."""

    key: str
    name: str
    saved: bool = False


@dataclass(frozen=True)
class Place:
    """A container that was opened; the root of a category has the key ""."""

    key: str
    name: str
    # The containers around what lies here, the place itself last.
    steps: tuple[Step, ...] = ()


@dataclass
class Entry:
    """One line of a tree, and what is stored about it."""

    key: str
    name: str
    bound: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    state: str = ""
    holds: int = 0
    holds_more: bool = False
    saved: bool = False
    inside: int = 0

    @property
    def is_container(self) -> bool:
        """Whether it opens."""
        return self.key.startswith("c:")


@dataclass(frozen=True)
class Cursor:
    """Where a page begins: behind or before a bound, or at either end."""

    backward: bool = False
    bound: tuple[str, ...] | None = None
    number: int = 1

    def text(self) -> str:
        """Return it as an address carries it."""
        told = json.dumps([self.backward, self.bound, self.number], ensure_ascii=False)
        return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


def read_cursor(text: str, kinds: Mapping[str, int] | None = None) -> Cursor:
    """Return the cursor in an address; empty is the first page.

    Shape: `kinds` says by its first part how many parts a bound has; a tree's when left out.

    Raises: CursorRefused
    """
    if not text:
        return Cursor()
    try:
        padded = text + "=" * (-len(text) % 4)
        backward, bound, number = json.loads(base64.urlsafe_b64decode(padded.encode()))
        return Cursor(bool(backward), _bound(bound, kinds or _PARTS), int(number))
    except (ValueError, TypeError):
        raise CursorRefused from None


_PARTS: Final = {"c": 2, "r": 3}


def _bound(told: Any, kinds: Mapping[str, int]) -> tuple[str, ...] | None:
    if told is None:
        return None
    parts = tuple(str(part) for part in told)
    if not parts or kinds.get(parts[0]) != len(parts) or not all(map(is_storable, parts)):
        raise ValueError
    # Everything but a container ends with a row's id.
    if parts[0] != "c":
        UUID(parts[-1])
    return parts


class Tree(Protocol):
    """One category of one organization, read a page at a time."""

    def place(self, key: str) -> Place | None:
        """Return an opened container, or None when the organization has none of this key."""

    def containers(
        self, place: Place, bound: tuple[str, ...] | None, *, backward: bool, limit: int
    ) -> list[Entry]:
        """Return containers in a place, behind (or before) a bound."""

    def rows(
        self, place: Place, bound: tuple[str, ...] | None, *, backward: bool, limit: int
    ) -> list[Entry]:
        """Return instructions or items in a place, behind (or before) a bound."""

    def count_rows(self, place: Place) -> int:
        """Return how many rows lie in a place, counted to one more than the most."""

    def fill(self, entries: Sequence[Entry]) -> None:
        """Say of containers how much they hold."""


@dataclass
class Page:
    """At most fifty entries of a place, with the cursors to the pages beside it."""

    place: Place
    entries: list[Entry]
    first: int | None = 1
    previous: str = ""
    next: str = ""
    last: str = ""
    rows: int = 0
    opened: dict[str, Page] = field(default_factory=dict)

    @property
    def has_more_rows(self) -> bool:
        """Whether there are more rows than are counted."""
        return self.rows > MOST_COUNTED

    @property
    def end(self) -> int:
        """Return the number of the last entry."""
        return (self.first or 1) + len(self.entries) - 1


def page_of(tree: Tree, place: Place, cursor: Cursor) -> Page:
    """Return the page at a cursor; every page costs the same, wherever it lies.

    Shape: containers first, then rows; going back from the end reads both the other way round.
    """
    found = _backward(tree, place, cursor) if cursor.backward else _forward(tree, place, cursor)
    entries, has_more = found[:PER_PAGE], len(found) > PER_PAGE
    if cursor.backward:
        entries.reverse()
        if not has_more and cursor.bound is not None and len(entries) < PER_PAGE:
            return page_of(tree, place, Cursor())
    page = Page(place, entries, rows=tree.count_rows(place))
    return _linked(page, cursor, has_more=has_more)


def _forward(tree: Tree, place: Place, cursor: Cursor) -> list[Entry]:
    limit, bound = PER_PAGE + 1, cursor.bound
    found: list[Entry] = []
    if bound is None or bound[0] == "c":
        found = tree.containers(place, bound, backward=False, limit=limit)
        bound = None
    if len(found) < limit:
        found += tree.rows(place, bound, backward=False, limit=limit - len(found))
    return found


def _backward(tree: Tree, place: Place, cursor: Cursor) -> list[Entry]:
    limit, bound = PER_PAGE + 1, cursor.bound
    found: list[Entry] = []
    if bound is None or bound[0] == "r":
        found = tree.rows(place, bound, backward=True, limit=limit)
        bound = None
    if len(found) < limit:
        found += tree.containers(place, bound, backward=True, limit=limit - len(found))
    return found


def _linked(page: Page, cursor: Cursor, *, has_more: bool) -> Page:
    count = len(page.entries)
    at_end = cursor.backward and cursor.bound is None
    page.first = None if at_end else max(1, cursor.number)
    if not page.entries:
        return page
    has_previous = has_more if cursor.backward else cursor.bound is not None
    has_next = not at_end if cursor.backward else has_more
    start = page.first or 1
    if has_previous:
        before = Cursor(backward=True, bound=page.entries[0].bound, number=start - PER_PAGE)
        page.previous = before.text()
    if has_next:
        page.next = Cursor(bound=page.entries[-1].bound, number=start + count).text()
        page.last = Cursor(backward=True).text()
    return page
