"""The verbs that staff apply to items one by one: file elsewhere, delete, restore, publish, take back.

Each expects a locked row and the organization's context, and writes its audit entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from knowledge.folders import source_slug
from knowledge.indexing.writing import Outcome, Written, change, reread
from knowledge.models import Item, ItemKind, ReviewStatus, SourceSchedule
from knowledge.shelving.errors import (
    ItemDeleted,
    NotOurs,
    RestoreTooLate,
    SourceFilesIt,
    StaysInSource,
)
from tenants.auditing import Actor, Change, note

RESTORABLE: Final = timedelta(days=30)


@dataclass(frozen=True)
class Hand:
    """Who does it, when, and why."""

    by: Actor
    at: datetime
    reason: str = ""


def move_item(row: Item, key: str, hand: Hand) -> Written:
    """File an item in another folder of its source; what is picked by itself stays picked.

    Raises: NotOurs, ItemDeleted, StaysInSource, SourceFilesIt
    """
    _refuse_unwritten(row)
    if source_slug(key) != row.source.slug:
        raise StaysInSource
    if key != row.folder_key and is_kept_fresh(row.source_id):
        raise SourceFilesIt
    return _put(row, "move", {"folder_key": key}, hand)


def delete_item(row: Item, hand: Hand) -> Written:
    """Delete softly: gone from the next search, restorable for thirty days, picks kept.

    Raises: NotOurs
    """
    if row.kind == ItemKind.GOLDEN:
        raise NotOurs
    deleted_at = hand.at if row.deleted_at is None else row.deleted_at
    return _put(row, "withdraw", {"deleted_at": deleted_at}, hand)


def restore_item(row: Item, hand: Hand) -> Written:
    """Take a deletion back.

    Raises: NotOurs, RestoreTooLate
    """
    if row.kind == ItemKind.GOLDEN:
        raise NotOurs
    if row.deleted_at is not None and row.deleted_at < hand.at - RESTORABLE:
        raise RestoreTooLate
    return _put(row, "restore", {"deleted_at": None}, hand)


def publish_item(row: Item, hand: Hand) -> Written:
    """Let an item be served.

    Raises: NotOurs, ItemDeleted
    """
    _refuse_unwritten(row)
    return _put(row, "review", {"review_status": ReviewStatus.APPROVED}, hand)


def unpublish_item(row: Item, hand: Hand) -> Written:
    """Keep an item from being served until it is published again.

    Raises: NotOurs, ItemDeleted
    """
    _refuse_unwritten(row)
    if row.review_status == ReviewStatus.REJECTED:
        return Written(row.pk, Outcome.UNCHANGED)
    return _put(row, "review", {"review_status": ReviewStatus.PENDING}, hand)


def put_back(row: Item, before: Mapping[str, Any], hand: Hand) -> Written:
    """Give an item the columns that it had before a verb.

    Raises: NotOurs
    """
    if row.kind == ItemKind.GOLDEN:
        raise NotOurs
    return _put(row, "undo", {name: _read(name, value) for name, value in before.items()}, hand)


def match_again(row: Item, hand: Hand) -> Written:
    """Match an item by the name that its folder has now."""
    return reread(row, at=hand.at)


def is_kept_fresh(source_id: UUID) -> bool:
    """Whether somebody else files the items of a source, again at every look."""
    return SourceSchedule.objects.filter(source_id=source_id, is_active=True).exists()


def told(value: Any) -> Any:
    """Return a column's value as JSON holds it."""
    return value.isoformat() if isinstance(value, datetime) else value


def _read(name: str, value: Any) -> Any:
    if name == "deleted_at" and value is not None:
        return datetime.fromisoformat(value)
    return value


def _put(row: Item, verb: str, columns: dict[str, Any], hand: Hand) -> Written:
    before = {name: told(getattr(row, name)) for name in columns}
    written = change(row, at=hand.at, **columns)
    if written.outcome != Outcome.UNCHANGED:
        after = {name: told(value) for name, value in columns.items()}
        made = Change(f"item.{verb}", "item", str(row.pk), before, after, hand.reason)
        note(row.organization_id, made, by=hand.by, at=hand.at)
    return written


def _refuse_unwritten(row: Item) -> None:
    if row.kind != ItemKind.KNOWLEDGE:
        raise NotOurs
    if row.deleted_at is not None:
        raise ItemDeleted
