"""Writing what verbs decided, for many items of one organization in a few statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F

from knowledge.indexing.lexical import copy_lexical_entries, forget_lexical_entries, lexical_entries
from knowledge.indexing.state import raise_desired_versions
from knowledge.indexing.writing import LIFECYCLE, text_of, version_of
from knowledge.models import Category, Item
from knowledge.shelving.items import Put, told
from tenants.auditing import Actor, Change, note_many


@dataclass(frozen=True)
class Hand:
    """Who does it, when, and why."""

    by: Actor
    at: datetime
    reason: str = ""


def put_many(puts: Sequence[Put], hand: Hand) -> None:
    """Write the columns that rows get, with their words, index states and audit entries.

    Expects locked rows of one organization and its context; rows that have everything stay untouched.
    Cost: one statement for each different set of columns, and five for all of them.
    """
    changing = [put for put in puts if put.changed]
    if not changing:
        return
    note_many(
        changing[0].row.organization_id, [_entry(put, hand) for put in changing],
        by=hand.by, at=hand.at,
    )  # fmt: skip
    due = [put.row for put in changing if LIFECYCLE & set(put.changed)]
    refiled = [put.row for put in changing if "folder_key" in put.changed]
    _write_columns(changing, hand.at)
    said_anew = match_again(refiled)
    _raise_due([*due, *(row for row in said_anew if row not in due)], hand.at)


def match_again(rows: Sequence[Item]) -> list[Item]:
    """Match rows by the name that their folder has now; return those whose words are others.

    Their index states are still to be raised.
    """
    texts = {row.pk: text_of(row) for row in rows}
    others = [row for row in rows if not texts[row.pk].is_what_was_indexed(row.content_hash)]
    if not others:
        return []
    for row in others:
        row.generation, row.content_hash = row.generation + 1, texts[row.pk].content_hash
    Item.objects.bulk_update(others, ["generation", "content_hash"])
    forget_lexical_entries(others[0].organization_id, [row.pk for row in others])
    copy_lexical_entries(
        entry
        for row in others
        for entry in lexical_entries(
            row.organization_id, Category.KNOWLEDGE, row.pk, texts[row.pk],
            generation=row.generation,
        )
    )  # fmt: skip
    return others


def reread_many(rows: Sequence[Item], at: datetime) -> list[Item]:
    """Match rows by the name that their folder has now, and have them indexed; return those changed."""
    others = match_again(rows)
    touched = {"lock_version": F("lock_version") + 1, "updated_at": at}
    Item.objects.filter(pk__in=[row.pk for row in others]).update(**touched)
    for row in others:
        row.lock_version += 1
    _raise_due(others, at)
    return others


def _write_columns(puts: Sequence[Put], at: datetime) -> None:
    groups: dict[tuple[tuple[str, Any], ...], list[Put]] = {}
    for put in puts:
        groups.setdefault(tuple(sorted(put.changed.items())), []).append(put)
    for columns, same in groups.items():
        rows = Item.objects.filter(pk__in=[put.row.pk for put in same])
        rows.update(lock_version=F("lock_version") + 1, updated_at=at, **dict(columns))
        for put in same:
            put.row.lock_version += 1
            for name, value in columns:
                setattr(put.row, name, value)


def _entry(put: Put, hand: Hand) -> Change:
    before = {name: told(getattr(put.row, name)) for name in put.changed}
    after = {name: told(value) for name, value in put.changed.items()}
    return Change(f"item.{put.verb}", "item", str(put.row.pk), before, after, hand.reason)


def _raise_due(rows: Sequence[Item], at: datetime) -> None:
    if rows:
        versions = {row.pk: version_of(row) for row in rows}
        raise_desired_versions(rows[0].organization_id, Category.KNOWLEDGE, versions, at=at)
