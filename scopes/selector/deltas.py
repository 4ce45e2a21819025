"""What an admin has ticked and un-ticked but not saved: a small difference to what is stored."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from knowledge.models import Category
from knowledge.places import CONTAINER, ROW, is_storable
from scopes.errors import DeltaRefused
from scopes.selecting import Picks

_NOTHING: Final = frozenset[str]()


@dataclass(frozen=True)
class Delta:
    """Keys to add and to remove; `clear` drops every stored pick before anything is added.

    Shape: a key is `c:` and a directory's id or a folder's key, or `r:` and the id of a row.
    """

    add: frozenset[str] = _NOTHING
    remove: frozenset[str] = _NOTHING
    clear: bool = False

    def __bool__(self) -> bool:
        return bool(self.add or self.remove or self.clear)

    def picks(self, key: str, *, saved: bool) -> bool:
        """Whether a key counts as picked, given whether it is stored."""
        return key in self.add or (saved and not self.clear and key not in self.remove)

    def count(self, saved: int) -> int:
        """Return how many picks there are, given how many are stored."""
        return (0 if self.clear else saved - len(self.remove)) + len(self.add)

    def applied(self, stored: frozenset[str]) -> frozenset[str]:
        """Return the picks that saving leaves."""
        return (_NOTHING if self.clear else stored - self.remove) | self.add

    def ticked(self, key: str, *, saved: bool) -> Delta:
        """Return the difference with a key picked."""
        if saved and not self.clear:
            return replace(self, remove=self.remove - {key})
        return replace(self, add=self.add | {key})

    def unticked(self, key: str, *, saved: bool) -> Delta:
        """Return the difference with a key not picked."""
        if saved and not self.clear:
            return replace(self, add=self.add - {key}, remove=self.remove | {key})
        return replace(self, add=self.add - {key})

    def against(self, stored: frozenset[str]) -> Delta:
        """Return the same difference without what is already so; clearing always means something."""
        if self.clear:
            return self
        return Delta(self.add - stored, self.remove & stored)

    def text(self) -> str:
        """Return it as the page carries it."""
        told = {"add": sorted(self.add), "remove": sorted(self.remove), "clear": self.clear}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def read_delta(text: str) -> Delta:
    """Return the difference that a page sent.

    Raises: DeltaRefused
    """
    try:
        told: Any = json.loads(text or "{}")
        parts = told.get("add", []), told.get("remove", []), told.get("clear", False)
    except (ValueError, AttributeError):
        raise DeltaRefused from None
    if not _is_keys(parts[0]) or not _is_keys(parts[1]) or not isinstance(parts[2], bool):
        raise DeltaRefused
    return Delta(frozenset(parts[0]), frozenset(parts[1]), parts[2])


def _is_keys(told: Any) -> bool:
    return isinstance(told, list) and all(isinstance(key, str) and is_storable(key) for key in told)


@dataclass(frozen=True)
class Box:
    """A box as a page showed it; what is stored may have changed since."""

    key: str
    saved: bool
    was_ticked: bool


def read_boxes(text: str) -> list[Box]:
    """Return the boxes that a page says it showed.

    Raises: DeltaRefused
    """
    try:
        boxes = [
            Box(str(key), bool(saved), bool(ticked)) for key, saved, ticked in json.loads(text)
        ]
    except (ValueError, TypeError):
        raise DeltaRefused from None
    if not all(is_storable(box.key) for box in boxes):
        raise DeltaRefused
    return boxes


def folded(delta: Delta, shown: Iterable[Box], ticked: Collection[str]) -> Delta:
    """Return the difference with the boxes that were changed on a page sent without a script."""
    for box in shown:
        if box.was_ticked != (box.key in ticked):
            change = delta.unticked if box.was_ticked else delta.ticked
            delta = change(box.key, saved=box.saved)
    return delta


def keys_of(picks: Picks) -> frozenset[str]:
    """Return the keys of picks."""
    return frozenset(
        [f"{CONTAINER}{one}" for one in picks.containers] + [f"{ROW}{one}" for one in picks.rows]
    )


def picks_of(keys: Iterable[str], category: str) -> Picks:
    """Return the picks that keys name.

    Raises: DeltaRefused with the keys that name nothing.
    """
    rows: set[UUID] = set()
    containers: set[Any] = set()
    refused = [key for key in keys if not _sort(key, category, rows, containers)]
    if refused:
        raise DeltaRefused(refused=sorted(refused))
    return Picks(frozenset(rows), frozenset(containers))


def _sort(key: str, category: str, rows: set[UUID], containers: set[Any]) -> bool:
    kind, value = key[:2], key[2:]
    if kind == CONTAINER and category == Category.KNOWLEDGE and value:
        containers.add(value)
        return True
    if kind not in {CONTAINER, ROW}:
        return False
    try:
        (rows if kind == ROW else containers).add(UUID(value))
    except ValueError:
        return False
    return True
