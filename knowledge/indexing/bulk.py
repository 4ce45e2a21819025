"""Writing many truth rows in a few statements, by the same rules as one by one.

Like every verb that changes truth rows it expects to run inside `organization_context`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from knowledge.indexing.lexical import copy_lexical_entries, forget_lexical_entries, lexical_entries
from knowledge.indexing.state import raise_desired_versions
from knowledge.indexing.texts import AssetText
from knowledge.indexing.writing import (
    LIFECYCLE,
    InstructionContent,
    ItemContent,
    Outcome,
    Written,
    category_of,
    text_of,
    version_of,
)
from knowledge.models import Instruction, Item, LexicalEntry

Content = ItemContent | InstructionContent
Truth = Item | Instruction


@dataclass(frozen=True)
class Wanted:
    """A truth row as it should be, and the locked one that is there already."""

    content: Content
    existing: Truth | None = None


@dataclass(frozen=True)
class _Change:
    row: Truth
    outcome: Outcome
    text: AssetText | None = None
    is_due: bool = False

    @property
    def is_new(self) -> bool:
        return self.outcome == Outcome.CREATED


def write_many(wanted: Sequence[Wanted], *, at: datetime) -> list[Written]:
    """Make rows of one organization and category as their contents say: all of them or none.

    Shape: what became of each, in order; no two may name the same row.
    Raises: IntegrityError when somebody else makes one of them in this instant.
    Cost:   four statements, whatever the number, and one for each row that changed.
    """
    changes = [_changed(each, at=at) for each in wanted]
    _write_rows(changes)
    _write_words([change for change in changes if change.text])
    _raise_due([change.row for change in changes if change.is_due], at=at)
    return [Written(change.row.pk, change.outcome) for change in changes]


def _changed(wanted: Wanted, *, at: datetime) -> _Change:
    row, columns = wanted.existing, wanted.content.columns()
    if row is None:
        return _created(wanted.content, columns, at=at)
    changed = {name for name, value in columns.items() if getattr(row, name) != value}
    if not changed:
        return _Change(row, Outcome.UNCHANGED)
    for name in changed:
        setattr(row, name, columns[name])
    text = text_of(row)
    is_said_anew = not text.is_what_was_indexed(row.content_hash, changed=changed)
    if is_said_anew:
        row.generation, row.content_hash = row.generation + 1, text.content_hash
    row.lock_version, row.updated_at = row.lock_version + 1, at
    is_due = is_said_anew or bool(changed & LIFECYCLE)
    return _Change(row, Outcome.UPDATED, text if is_said_anew else None, is_due)


def _created(content: Content, columns: dict[str, Any], *, at: datetime) -> _Change:
    named: dict[str, Any] = {
        "organization_id": content.organization_id, "external_id": content.external_id,
    }  # fmt: skip
    row: Truth
    if isinstance(content, ItemContent):
        row = Item(**named, source_id=content.source_id, **columns)
    else:
        row = Instruction(**named, **columns)
    text = text_of(row)
    row.content_hash, row.updated_at = text.content_hash, at
    return _Change(row, Outcome.CREATED, text, is_due=True)


def _write_rows(changes: Iterable[_Change]) -> None:
    # In the order of their names, so that two that write the same rows wait instead of deadlocking.
    made = sorted((c.row for c in changes if c.is_new), key=lambda row: row.external_id)
    for model in (Item, Instruction):
        model.objects.bulk_create(row for row in made if isinstance(row, model))  # type: ignore[misc]
    for change in changes:
        if change.outcome == Outcome.UPDATED:
            change.row.save()


def _write_words(changes: Sequence[_Change]) -> None:
    replaced = [change.row for change in changes if not change.is_new]
    if replaced:
        forget_lexical_entries(replaced[0].organization_id, [row.pk for row in replaced])
    if changes:
        copy_lexical_entries(entry for change in changes for entry in _entries(change))


def _entries(change: _Change) -> Iterable[LexicalEntry]:
    row, text = change.row, change.text
    if text is None:
        return ()
    return lexical_entries(
        row.organization_id, category_of(row), row.pk, text, generation=row.generation
    )


def _raise_due(rows: Sequence[Truth], *, at: datetime) -> None:
    if rows:
        versions = {row.pk: version_of(row) for row in rows}
        raise_desired_versions(rows[0].organization_id, category_of(rows[0]), versions, at=at)
