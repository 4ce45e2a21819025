"""A root as a template shows it: its state, its tree as far as it is open, or a flat list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from knowledge.places import PER_PAGE, Page, Place, Step, page_of, read_cursor
from scopes.selector import words
from scopes.selector.deltas import Delta
from scopes.selector.flat import SHORTEST, Flat, emptied, found, reviewed
from scopes.selector.lines import Line, Listing, line_of, listing_of, short
from scopes.selector.picked import Picked, tree_of
from scopes.selector.rooms import Visit
from scopes.selector.sheet import Sheet
from scopes.selector.state import RootState


@dataclass
class Root:
    """One of the two roots of the page."""

    category: str
    label: str
    state: RootState
    sheet: Sheet
    may_change: bool
    tree: Listing | None = None
    flat: FlatView | None = None
    told: str = ""
    alert: str = ""
    conflict: Any = None

    @property
    def version(self) -> int:
        """Return the version that changes are made against."""
        return self.sheet.version if self.sheet.version is not None else self.state.version

    @property
    def state_words(self) -> str:
        """Return the mode in words."""
        told: str = words.script_words()[
            {"all": "all", "selected": "restricted", "vacant": "vacant"}[self.state.words]
        ]
        return told

    @property
    def selected_words(self) -> str:
        """Return how many are selected, when any is."""
        return words.selected(self.state.count) if self.state.count else ""

    @property
    def unsaved_words(self) -> str:
        """Return how many changes are not saved, when any is."""
        return words.unsaved(self.state.unsaved) if self.state.unsaved else ""

    @property
    def panel_id(self) -> str:
        """Return the name of the element that holds the tree."""
        return short("panel", self.category, "")


@dataclass
class FlatView:
    """A flat list as a template shows it."""

    category: str
    kind: str
    heading: str
    summary: str
    lines: list[Line] = field(default_factory=list)
    previous: int | None = None
    next: int | None = None

    @property
    def listing(self) -> Listing:
        """Return the lines as any list shows them."""
        return Listing(f"flat-{self.category}", self.category, "", self.heading, self.lines)


def root_of(visit: Visit, sheet: Sheet, state: RootState) -> Root:
    """Return a root as its sheet says. Expects the organization's context."""
    root = Root(sheet.category, str(words.ROOTS[sheet.category]), state, sheet, visit.may_change)
    picked = Picked(visit.agent, sheet.category)
    if sheet.query:
        root.flat = found_view(picked, sheet.delta, sheet.query)
    elif sheet.review is not None:
        root.flat = review_view(picked, sheet.delta, sheet.review)
    elif "" in sheet.opened:
        root.tree = tree_view(picked, sheet)
    return root


def tree_view(picked: Picked, sheet: Sheet) -> Listing | None:
    """Return the tree with every open folder in its place."""
    pages = _pages(picked, sheet)
    below: dict[str, Listing] = {}
    # The deepest first, so that every list finds what is open below it.
    for key in sorted(pages, key=lambda key: len(pages[key].place.steps), reverse=True):
        below[key] = listing_of(picked, pages[key], sheet.delta, below)
    return below.get("")


def _pages(picked: Picked, sheet: Sheet) -> dict[str, Page]:
    tree = tree_of(picked.category, picked.agent.organization_id)
    pages = {}
    for key, cursor in sheet.opened.items():
        place = tree.place(key)
        if place is not None:
            pages[key] = page_of(tree, place, read_cursor(cursor))
            tree.fill(pages[key].entries)
    return pages


def folder_view(picked: Picked, place: Place, cursor: str) -> Listing:
    """Return one page of one folder.

    Cost: about eight statements, however much the folder holds.
    """
    tree = tree_of(picked.category, picked.agent.organization_id)
    page = page_of(tree, place, read_cursor(cursor))
    tree.fill(page.entries)
    return listing_of(picked, page, Delta(), {})


def found_view(picked: Picked, delta: Delta, text: str) -> FlatView:
    """Return what a search by name finds."""
    heading = _("Search results")
    if len(text) < SHORTEST:
        return FlatView(picked.category, "found", heading, _("Type two letters or more."))
    tree = tree_of(picked.category, picked.agent.organization_id)
    flat = found(tree, picked.category, text)
    tree.fill(flat.entries)
    lines = list(_flat_lines(picked, flat, delta))
    return FlatView(picked.category, "found", heading, _found_words(flat), lines)


def _found_words(flat: Flat) -> str:
    shown, total = words.number(len(flat.entries)), words.number(flat.total)
    if flat.has_more:
        text = _("The first {shown} of more than {total}. More words find fewer.")
    elif flat.total > len(flat.entries):
        text = _("The first {shown} of {total}. More words find fewer.")
    else:
        text = ngettext("{total} found.", "{total} found.", flat.total)
    return text.format(shown=shown, total=total)


def review_view(picked: Picked, delta: Delta, offset: int) -> FlatView:
    """Return what is selected, saved or not."""
    tree = tree_of(picked.category, picked.agent.organization_id)
    flat = reviewed(tree, picked, delta, offset)
    tree.fill(flat.entries)
    flat = Flat(emptied(flat.entries), flat.total, offset=offset)
    view = FlatView(picked.category, "review", _("Selection"), _review_words(flat))
    view.lines = list(_flat_lines(picked, flat, delta))
    view.previous = max(0, offset - PER_PAGE) if offset else None
    view.next = offset + PER_PAGE if offset + PER_PAGE < flat.total else None
    return view


def _review_words(flat: Flat) -> str:
    if not flat.total:
        return _("Nothing is selected: everything is searchable.")
    end = flat.offset + len(flat.entries)
    return _("{first} to {end} of {total}, saved and unsaved.").format(
        first=words.number(flat.offset + 1), end=words.number(end), total=words.number(flat.total)
    )


def _flat_lines(picked: Picked, flat: Flat, delta: Delta) -> Iterator[Line]:
    picked.mark(flat.entries, None)
    for entry in flat.entries:
        steps: tuple[Step, ...] = entry.steps
        yield line_of(entry, delta, steps, list_id=picked.category, with_path=True)
