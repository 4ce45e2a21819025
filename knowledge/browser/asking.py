"""What a person asks the browser to list: a folder, or the items that a name and some conditions match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q, QuerySet

from knowledge.finding import find
from knowledge.models import Category, IndexState, Item
from knowledge.places import MOST_COUNTED, PER_PAGE, Cursor, is_storable, read_cursor
from knowledge.shelving.folders import items_in
from knowledge.shelving.items import RESTORABLE

LONGEST: Final = 1_000
KINDS: Final = {"m": 4, "d": 3}
INDEX_STATES: Final = ("failed", "retrying", "pending", "live")


@dataclass(frozen=True)
class Asked:
    """What an address asks for; everything empty is the top of the tree."""

    place: str = ""
    q: str = ""
    status: str = ""
    language: str = ""
    dataset: str = ""
    index: str = ""
    deleted: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether only a folder is asked for."""
        return not self.conditions and not self.q

    @property
    def conditions(self) -> dict[str, str]:
        """Return the conditions that are set, by name."""
        names = ("status", "language", "dataset", "index", "deleted")
        return {name: getattr(self, name) for name in names if getattr(self, name)}

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Return everything that is set, as a form carries it along."""
        told = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return [(name, value) for name, value in told if value]

    def address(self, **more: str) -> str:
        """Return the query of an address that asks the same."""
        query = urlencode([*self.fields, *((n, v) for n, v in more.items() if v)])
        return f"?{query}"


def asked_in(sent: Mapping[str, Any]) -> Asked:
    """Return what was asked; what cannot be meant is left out."""
    told = {}
    for field in fields(Asked):
        value = str(sent.get(field.name, "")).strip()[:LONGEST]
        told[field.name] = value if is_storable(value) else ""
    return Asked(**told)


def matching(organization_id: int, asked: Asked, *, at: datetime) -> QuerySet[Item]:
    """Return every item that is meant; a name is looked for in the whole corpus.

    Expects the organization's context. Cost of a name: as `knowledge.finding`.
    """
    rows = Item.objects.filter(organization_id=organization_id)
    if asked.q:
        rows = rows.filter(pk__in=_named(organization_id, asked.q))
    elif asked.place:
        rows = items_in(organization_id, asked.place)
    if asked.deleted:
        rows = rows.filter(deleted_at__gte=at - RESTORABLE)
    else:
        rows = rows.filter(deleted_at=None)
    return rows.filter(_conditions(organization_id, asked))


def _named(organization_id: int, text: str) -> list[UUID]:
    found = find(Category.KNOWLEDGE, [organization_id], text)
    return list(found.values_list("pk", flat=True))


def _conditions(organization_id: int, asked: Asked) -> Q:
    wanted = Q()
    if asked.status:
        wanted &= Q(review_status=asked.status)
    if asked.language:
        # `en` is also meant by en-GB.
        wanted &= Q(language__iexact=asked.language) | Q(language__istartswith=f"{asked.language}-")
    if asked.dataset:
        wanted &= Q(dataset=asked.dataset)
    if asked.index in INDEX_STATES:
        states = IndexState.objects.filter(organization_id=organization_id, status=asked.index)
        wanted &= Q(pk__in=states.values("asset_id"))
    return wanted


@dataclass(frozen=True)
class Matches:
    """A page of items that match, how many do, and the cursors beside it."""

    rows: list[Item]
    count: int
    previous: str = ""
    next: str = ""

    @property
    def has_more(self) -> bool:
        """Whether there are more than are counted."""
        return self.count > MOST_COUNTED


def matches(rows: QuerySet[Item], asked: Asked, cursor_text: str) -> Matches:
    """Return the page at a cursor: by folder and title, deleted ones newest first.

    Raises: CursorRefused
    """
    cursor = read_cursor(cursor_text, KINDS)
    order = ("-deleted_at", "pk") if asked.deleted else ("folder_key", "title", "pk")
    behind = _behind(cursor)
    found = list(rows.filter(behind).order_by(*_turned(order, cursor))[: PER_PAGE + 1])
    page, has_more = found[:PER_PAGE], len(found) > PER_PAGE
    if cursor.backward:
        page.reverse()
    count = int(rows.order_by().values("pk")[: MOST_COUNTED + 1].count())
    has_previous = has_more if cursor.backward else cursor.bound is not None
    has_next = has_more or cursor.backward
    return Matches(
        page,
        count,
        Cursor(backward=True, bound=_bound(page[0], asked)).text() if page and has_previous else "",
        Cursor(bound=_bound(page[-1], asked)).text() if page and has_next else "",
    )


def _bound(row: Item, asked: Asked) -> tuple[str, ...]:
    if asked.deleted and row.deleted_at is not None:
        return ("d", row.deleted_at.isoformat(), str(row.pk))
    return ("m", row.folder_key, row.title, str(row.pk))


def _turned(order: tuple[str, ...], cursor: Cursor) -> list[str]:
    if not cursor.backward:
        return list(order)
    return [name.removeprefix("-") if name.startswith("-") else f"-{name}" for name in order]


def _behind(cursor: Cursor) -> Q:
    if cursor.bound is None:
        return Q()
    kind, *told = cursor.bound
    away = "lt" if cursor.backward else "gt"
    if kind == "d":
        # The newest come first, so what follows is older.
        at, pk = _instant(told[0]), UUID(told[1])
        older = "gt" if cursor.backward else "lt"
        return Q(**{f"deleted_at__{older}": at}) | Q(deleted_at=at, **{f"pk__{away}": pk})
    key, title, pk = told[0], told[1], UUID(told[2])
    within = Q(**{f"title__{away}": title}) | Q(title=title, **{f"pk__{away}": pk})
    # Said once more as a plain range, which is where the index is entered.
    border = Q(**{f"folder_key__{away}e": key})
    return border & (Q(**{f"folder_key__{away}": key}) | (Q(folder_key=key) & within))


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
