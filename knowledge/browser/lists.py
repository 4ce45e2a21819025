"""A page of the browser as a template shows it: every word and address decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.http import Http404
from django.urls import reverse

from knowledge.admin_chips import attach_states, chip
from knowledge.browser import words
from knowledge.browser.asking import Asked, Matches, matches, matching
from knowledge.browser.rooms import Visit
from knowledge.errors import CursorRefused
from knowledge.models import Item
from knowledge.places import MOST_COUNTED, Entry, Place, Step, page_of, read_cursor
from knowledge.tree import KnowledgeTree


@dataclass(frozen=True)
class FolderLine:
    """A source or a folder."""

    key: str
    name: str
    address: str
    facts: str


@dataclass(frozen=True)
class ItemLine:
    """An item."""

    item: Item
    address: str
    status: tuple[str, str]
    index: Any
    path: str = ""

    @property
    def token(self) -> str:
        """Return its id and the version that is shown."""
        return f"{self.item.pk}:{self.item.lock_version}"


@dataclass
class Listing:
    """A page: folders, items, and the way to the pages beside it."""

    folders: list[FolderLine] = field(default_factory=list)
    items: list[ItemLine] = field(default_factory=list)
    span: str = ""
    pages: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not self.folders and not self.items


def place_in(seen: Visit, key: str) -> Place:
    """Return an opened folder; one that the organization cannot have is not there."""
    place = KnowledgeTree(seen.organization_id).place(key)
    if place is None:
        raise Http404
    return place


def browse_address(seen: Visit, asked: Asked) -> str:
    """Return the address of a list."""
    return reverse("admin:browse", args=[seen.organization.slug]) + asked.address()


def listing_of(seen: Visit, asked: Asked, place: Place, cursor: str) -> Listing:
    """Return the page that is asked for, whichever kind of list it is."""
    try:
        if asked.is_plain:
            return _folder(seen, asked, place, cursor)
        return _matching(seen, asked, cursor)
    except (CursorRefused, ValueError):
        raise Http404 from None


def _folder(seen: Visit, asked: Asked, place: Place, cursor: str) -> Listing:
    tree = KnowledgeTree(seen.organization_id)
    page = page_of(tree, place, read_cursor(cursor))
    tree.fill(page.entries)
    rows = _rows([entry for entry in page.entries if not entry.is_container])
    listing = Listing(
        [_folder_line(seen, entry) for entry in page.entries if entry.is_container],
        item_lines(seen, rows),
    )
    if page.previous or page.next:
        listing.span = words.found(page.rows, MOST_COUNTED)
    ways = (("first", ""), ("previous", page.previous), ("next", page.next), ("last", page.last))
    listing.pages = [
        (name, asked.address(cursor=to), "")
        for name, to in ways
        if to or (name == "first" and page.previous)
    ]
    return listing


def _matching(seen: Visit, asked: Asked, cursor: str) -> Listing:
    found: Matches = matches(
        matching(seen.organization_id, asked, at=seen.at).select_related("source"), asked, cursor
    )
    tree = KnowledgeTree(seen.organization_id)
    named = tree.folders_named(asked.q)[:20] if asked.q and not cursor else []
    folders = [tree.folder_entry(key, key, ()) for key in named]
    tree.fill(folders)
    listing = Listing(
        [_folder_line(seen, entry, name=entry.key[2:]) for entry in folders],
        item_lines(seen, found.rows, tree=tree),
        words.found(found.count, MOST_COUNTED),
    )
    ways = (("previous", found.previous), ("next", found.next))
    listing.pages = [(name, asked.address(cursor=to), "") for name, to in ways if to]
    return listing


def _rows(entries: list[Entry]) -> list[Item]:
    found = Item.objects.defer("body").in_bulk([entry.key[2:] for entry in entries])
    by_id = {str(pk): row for pk, row in found.items()}
    return [by_id[entry.key[2:]] for entry in entries if entry.key[2:] in by_id]


def item_lines(
    seen: Visit, rows: list[Item], *, tree: KnowledgeTree | None = None
) -> list[ItemLine]:
    """Return lines of items; of a list from all over, each tells where it is filed.

    Cost: one statement.
    """
    attach_states(rows, at=seen.at)
    return [
        ItemLine(
            item=row,
            address=reverse("admin:browse_item", args=[seen.organization.slug, row.pk]),
            status=words.status(row),
            index=chip(getattr(row, "index_state", None), at=seen.at),
            path=_path(tree.steps_to(row.folder_key)) if tree else "",
        )
        for row in rows
    ]


def _path(steps: tuple[Step, ...]) -> str:
    return " › ".join(step.name for step in steps)


def _folder_line(seen: Visit, entry: Entry, *, name: str = "") -> FolderLine:
    key = entry.key[2:]
    return FolderLine(
        key=key,
        name=name or entry.name,
        address=browse_address(seen, Asked(place=key)),
        facts=words.held(entry.holds, more=entry.holds_more),
    )


def trail(seen: Visit, place: Place) -> list[tuple[str, str]]:
    """Return the folders down to a place as (name, address)."""
    return [(step.name, browse_address(seen, Asked(place=step.key[2:]))) for step in place.steps]
