"""What staff do to items: file elsewhere, delete, restore, publish, take back.

Each verb looks at one row and says which columns it gets, or why it stays as it is; `putting` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from knowledge.folders import source_slug
from knowledge.models import Item, ItemKind, ReviewStatus, SourceSchedule
from knowledge.shelving.errors import (
    ItemDeleted,
    NotOurs,
    RestoreTooLate,
    SourceFilesIt,
    StaysInSource,
)

RESTORABLE: Final = timedelta(days=30)


@dataclass(frozen=True)
class Put:
    """A row, the columns it gets, and the verb as the audit trail has it."""

    row: Item
    verb: str
    columns: Mapping[str, Any]

    @property
    def changed(self) -> dict[str, Any]:
        """Return the columns that the row does not have already."""
        return {n: value for n, value in self.columns.items() if getattr(self.row, n) != value}


def moved_item(row: Item, key: str, fresh: frozenset[UUID]) -> Put:
    """File an item in another folder of its source; what is picked by itself stays picked.

    Shape: `fresh` are the sources whose items somebody else files.
    Raises: NotOurs, ItemDeleted, StaysInSource, SourceFilesIt
    """
    _refuse_unwritten(row)
    if source_slug(key) != row.source.slug:
        raise StaysInSource
    if key != row.folder_key and row.source_id in fresh:
        raise SourceFilesIt
    return Put(row, "move", {"folder_key": key})


def deleted_item(row: Item, at: datetime) -> Put:
    """Delete softly: gone from the next search, restorable for thirty days, picks kept.

    Raises: NotOurs
    """
    refuse_not_ours(row)
    return Put(row, "withdraw", {"deleted_at": row.deleted_at or at})


def restored_item(row: Item, at: datetime) -> Put:
    """Take a deletion back.

    Raises: NotOurs, RestoreTooLate
    """
    refuse_not_ours(row)
    refuse_too_late(row.deleted_at, at)
    return Put(row, "restore", {"deleted_at": None})


def published_item(row: Item) -> Put:
    """Let an item be served.

    Raises: NotOurs, ItemDeleted
    """
    _refuse_unwritten(row)
    return Put(row, "review", {"review_status": ReviewStatus.APPROVED})


def unpublished_item(row: Item) -> Put:
    """Keep an item from being served until it is published again.

    Raises: NotOurs, ItemDeleted
    """
    _refuse_unwritten(row)
    is_rejected = row.review_status == ReviewStatus.REJECTED
    status = row.review_status if is_rejected else ReviewStatus.PENDING
    return Put(row, "review", {"review_status": status})


def put_back(row: Item, before: Mapping[str, Any], at: datetime) -> Put:
    """Give an item the columns that it had before a verb.

    Raises: NotOurs, RestoreTooLate
    """
    refuse_not_ours(row)
    if "deleted_at" in before and before["deleted_at"] is None:
        refuse_too_late(row.deleted_at, at)
    return Put(row, "undo", {name: _read(name, value) for name, value in before.items()})


def fresh_sources(organization_id: int) -> frozenset[UUID]:
    """Return the sources whose items somebody else files, again at every look."""
    schedules = SourceSchedule.objects.filter(organization_id=organization_id, is_active=True)
    return frozenset(schedules.values_list("source_id", flat=True))


def told(value: Any) -> Any:
    """Return a column's value as JSON holds it."""
    return value.isoformat() if isinstance(value, datetime) else value


def _read(name: str, value: Any) -> Any:
    if name == "deleted_at" and value is not None:
        return datetime.fromisoformat(value)
    return value


def refuse_not_ours(row: Item) -> None:
    """Refuse what golden answers and corrections are served through: they have verbs of their own.

    Raises: NotOurs
    """
    if row.kind != ItemKind.KNOWLEDGE:
        raise NotOurs


def refuse_too_late(deleted_at: datetime | None, at: datetime) -> None:
    """Refuse to restore what was deleted so long ago that it may be removed at any moment.

    Raises: RestoreTooLate
    """
    if deleted_at is not None and deleted_at < at - RESTORABLE:
        raise RestoreTooLate


def _refuse_unwritten(row: Item) -> None:
    refuse_not_ours(row)
    if row.deleted_at is not None:
        raise ItemDeleted
