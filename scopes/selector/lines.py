"""The lines of a tree as a template shows them: every word decided, nothing left to compute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from knowledge.places import Entry, Page, Step
from scopes.selector import words
from scopes.selector.deltas import Delta
from scopes.selector.picked import Picked


@dataclass(frozen=True)
class Line:
    """One row with its box."""

    id: str
    key: str
    name: str
    is_container: bool
    panel: str
    facts: str
    path: str
    state: str
    saved: bool
    is_picked: bool
    included: str
    unsaved: str
    inside: int
    inside_words: str
    steps: str = ""
    opened: Listing | None = None

    @property
    def included_words(self) -> str:
        """Return which selected folder includes it."""
        return words.included(self.included)

    @property
    def place(self) -> str:
        """Return the key under which it opens."""
        return self.key[2:]


@dataclass
class Listing:
    """A page of lines below one label."""

    id: str
    category: str
    place: str
    name: str
    lines: list[Line]
    steps: str = "[]"
    span: str = ""
    previous: str = ""
    next: str = ""
    last: str = ""

    @property
    def told(self) -> str:
        """Return what is announced when it has come."""
        return f"{self.name}: {self.span or words.entries(len(self.lines))}"

    @property
    def shown(self) -> str:
        """Return every box as it was shown: key, stored, ticked; for a page sent without a script."""
        told = [[line.key, int(line.saved), int(line.is_picked)] for line in self.lines]
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def short(*parts: str) -> str:
    """Return a name for an element, the same for the same thing."""
    return "k" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def listing_of(picked: Picked, page: Page, delta: Delta, opened: dict[str, Listing]) -> Listing:
    """Return a page of a tree with what is stored and changed about every line.

    Cost: up to four statements.
    """
    place = page.place
    steps = picked.mark(page.entries, place)
    lines = [
        line_of(entry, delta, steps, list_id=picked.category, opened=opened.get(entry.key[2:]))
        for entry in page.entries
    ]
    name = place.name or str(words.ROOTS[picked.category])
    listing = Listing(
        short("panel", picked.category, place.key), picked.category, place.key, name, lines
    )
    listing.steps = steps_text(steps)
    listing.previous, listing.next, listing.last = page.previous, page.next, page.last
    if page.previous or page.next:
        end = page.end if page.first else len(lines)
        listing.span = words.span(page.first, end, min(page.rows, 1_000), more=page.has_more_rows)
    return listing


def line_of(
    entry: Entry,
    delta: Delta,
    steps: tuple[Step, ...],
    *,
    list_id: str,
    opened: Listing | None = None,
    with_path: bool = False,
) -> Line:
    """Return a line; one of a flat list tells its path and carries its own steps."""
    is_picked = delta.picks(entry.key, saved=entry.saved)
    around = [step for step in reversed(steps) if delta.picks(step.key, saved=step.saved)]
    inside = _inside(entry, delta)
    return Line(
        id=short(list_id, entry.key, "flat" if with_path else ""),
        key=entry.key,
        name=entry.name,
        is_container=entry.is_container,
        panel=short("panel", list_id, entry.key[2:]),
        facts=words.held(entry.holds, more=entry.holds_more) if entry.is_container else "",
        path=" › ".join(step.name for step in steps) if with_path else "",
        state=str(words.STATES[entry.state]),
        saved=entry.saved,
        is_picked=is_picked,
        included=around[0].name if around and not is_picked else "",
        unsaved="" if is_picked == entry.saved else "added" if is_picked else "removed",
        inside=entry.inside,
        inside_words=words.inside(inside) if inside else "",
        steps=steps_text(steps) if with_path else "",
        opened=opened,
    )


def _inside(entry: Entry, delta: Delta) -> int:
    """Return what is stored inside a folder, as far as the page's changes leave it."""
    return 0 if delta.clear else entry.inside


def steps_text(steps: Iterable[Step]) -> str:
    """Return the steps as the script reads them: key, name, stored."""
    told = [[step.key, step.name, int(step.saved)] for step in steps]
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))
