"""What a page carries about one root between requests: changes, version, what is open, what is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final

from django.http import HttpRequest, QueryDict

from knowledge.models import Category
from knowledge.places import is_storable
from scopes.errors import DeltaRefused
from scopes.selector.deltas import Delta, folded, read_boxes, read_delta

# Each open folder is a page of fifty boxes; more of them would only be closed by hand.
MOST_OPEN: Final = 12
LONGEST_QUERY: Final = 200


@dataclass(frozen=True)
class Sheet:
    """One root as the page has it; `version` is the one that the changes were made against."""

    category: str
    delta: Delta = field(default_factory=Delta)
    version: int | None = None
    opened: dict[str, str] = field(default_factory=dict)
    query: str = ""
    review: int | None = None

    @property
    def opened_text(self) -> str:
        """Return what is open as the page carries it."""
        return json.dumps(self.opened, ensure_ascii=False)

    def opening(self, place: str, cursor: str = "") -> Sheet:
        """Return the sheet with a folder open at a page."""
        kept = {key: at for key, at in self.opened.items() if key != place}
        while len(kept) >= MOST_OPEN:
            kept.pop(next(key for key in kept if key), None)
        return replace(self, opened={**kept, place: cursor}, review=None, query="")

    def closing(self, place: str) -> Sheet:
        """Return the sheet with a folder closed."""
        return replace(self, opened={k: at for k, at in self.opened.items() if k != place})

    def changed(self, delta: Delta) -> Sheet:
        """Return the sheet with other changes."""
        return replace(self, delta=delta)


def sheets_of(request: HttpRequest) -> dict[str, Sheet]:
    """Return the sheets that a page sent, or fresh ones.

    Raises: DeltaRefused
    """
    return {category: _sheet(request.POST, category) for category in Category.values}


def _sheet(sent: QueryDict, category: str) -> Sheet:
    review = sent.get(f"review.{category}", "")
    return Sheet(
        category=category,
        delta=read_delta(sent.get(f"delta.{category}", "")),
        version=number_in(sent.get(f"version.{category}", "")),
        opened=_opened(sent.get(f"open.{category}", "")),
        query=query_in(sent.get(f"q.{category}", "")),
        review=number_in(review),
    )


def with_boxes(sheet: Sheet, sent: QueryDict) -> Sheet:
    """Return the sheet with the boxes of the page, as they were ticked without a script.

    Raises: DeltaRefused
    """
    ticked = set(sent.getlist(f"box.{sheet.category}"))
    delta = sheet.delta
    for text in sent.getlist(f"shown.{sheet.category}"):
        delta = folded(delta, read_boxes(text), ticked)
    return sheet.changed(delta)


def query_in(text: str) -> str:
    """Return what to search for: bounded, and without what no name can hold."""
    return "".join(c for c in text.strip() if is_storable(c))[:LONGEST_QUERY]


def number_in(text: str) -> int | None:
    """Return the number that a page sent, or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _opened(text: str) -> dict[str, str]:
    try:
        told: Any = json.loads(text or "{}")
        return {str(key): str(at) for key, at in list(told.items())[:MOST_OPEN]}
    except (ValueError, AttributeError):
        raise DeltaRefused from None
