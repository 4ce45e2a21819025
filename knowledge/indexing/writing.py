"""The verbs that change truth rows: row, lexical entries and index state in one transaction.

Every verb expects to run inside `organization_context`; the caller decides how many rows share
a transaction. Nothing else writes instructions or items.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError, transaction

from knowledge.errors import KindKept
from knowledge.folders import directory_path, segments
from knowledge.indexing.lexical import write_lexical_entries
from knowledge.indexing.state import raise_desired
from knowledge.indexing.texts import (
    WORDS,
    AssetText,
    as_stored,
    text_of_instruction,
    text_of_item,
)
from knowledge.models import (
    Category,
    Dataset,
    Instruction,
    InstructionDirectory,
    InstructionStatus,
    Item,
    ItemKind,
    ParseStatus,
    ReviewStatus,
    Visibility,
)

RowT = TypeVar("RowT", Item, Instruction)


@dataclass(frozen=True)
class Limit:
    """A gate's list. Restricted with no values matches nobody; NO_LIMIT matches everybody."""

    restricted: bool
    values: tuple[Any, ...] = ()


NO_LIMIT = Limit(restricted=False)


def only(*values: Any) -> Limit:
    """Return the limit to these values."""
    return Limit(restricted=True, values=tuple(sorted(values, key=str)))


@dataclass(frozen=True)
class Gates:
    """The gates that instructions and items share."""

    visibility: str = Visibility.PUBLIC
    channels: Limit = NO_LIMIT
    segments: Limit = NO_LIMIT
    jurisdictions: Limit = NO_LIMIT
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    def columns(self) -> dict[str, Any]:
        """Return them as columns of a truth row."""
        columns: dict[str, Any] = {
            "visibility": self.visibility,
            "valid_from": self.valid_from,
            "valid_until": self.valid_until,
        }
        for gate in ("channel", "segment", "jurisdiction"):
            limit: Limit = getattr(self, f"{gate}s")
            columns[f"{gate}_restricted"] = limit.restricted
            columns[f"{gate}s"] = list(limit.values)
        return columns


@dataclass(frozen=True)
class ItemContent:
    """An item as it should be; (organization, source, external id) names it."""

    organization_id: int
    source_id: UUID
    external_id: str
    title: str
    body: str
    folder_key: str
    language: str = ""
    url: str = ""
    gates: Gates = Gates()
    agents: Limit = NO_LIMIT
    kind: str = ItemKind.KNOWLEDGE
    dataset: str = Dataset.DEFAULT
    review_status: str = ReviewStatus.APPROVED
    parse_status: str = ParseStatus.PARSED
    published_version: UUID | None = None
    leads_until: datetime | None = None
    phrasings: tuple[str, ...] = ()
    uploader_id: int | None = None
    source_tag: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """Return the columns of the row, without the ones that name it."""
        plain = (
            "title", "body", "folder_key", "language", "url", "kind", "dataset", "review_status",
            "parse_status", "published_version", "leads_until", "uploader_id", "source_tag", "metadata",
        )  # fmt: skip
        columns = {
            **{name: getattr(self, name) for name in plain},
            **self.gates.columns(),
            "phrasings": list(self.phrasings),
            "agent_restricted": self.agents.restricted,
            "agents": list(self.agents.values),
            "deleted_at": None,
        }
        return as_stored(columns)


@dataclass(frozen=True)
class InstructionContent:
    """An instruction as it should be; (organization, external id) names it."""

    organization_id: int
    external_id: str
    title: str
    body: str
    directory_id: UUID | None = None
    language: str = ""
    gates: Gates = Gates()
    status: str = InstructionStatus.PUBLISHED

    def columns(self) -> dict[str, Any]:
        """Return the columns of the row, without the ones that name it."""
        plain = ("title", "body", "directory_id", "language", "status")
        columns = {
            **{name: getattr(self, name) for name in plain},
            **self.gates.columns(),
            "deleted_at": None,
        }
        return as_stored(columns)


class Outcome(StrEnum):
    """What a write did."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Written:
    """The row that was written, and what happened to it."""

    id: UUID
    outcome: Outcome


def write_item(content: ItemContent, *, at: datetime) -> Written:
    """Make the item as its content says; the same content again changes nothing.

    Raises: KindKept
    Cost:   four statements when something changed, one when nothing did.
    """
    key = {
        "organization_id": content.organization_id,
        "source_id": content.source_id,
        "external_id": content.external_id,
    }
    columns = content.columns()
    item, is_new = _row(Item, key, columns)
    return _write(item, columns, is_new=is_new, at=at)


def write_instruction(content: InstructionContent, *, at: datetime) -> Written:
    """Make the instruction as its content says; the same content again changes nothing."""
    key = {"organization_id": content.organization_id, "external_id": content.external_id}
    columns = content.columns()
    instruction, is_new = _row(Instruction, key, columns)
    return _write(instruction, columns, is_new=is_new, at=at)


def change(row: Item | Instruction, *, at: datetime, **columns: Any) -> Written:
    """Change some columns of a locked row."""
    return _write(row, as_stored(columns), is_new=False, at=at)


def withdraw(row: Item | Instruction, *, at: datetime) -> Written:
    """Delete softly: gone from the next search, restorable, picks kept."""
    return change(row, at=at, deleted_at=at)


def restore(row: Item | Instruction, *, at: datetime) -> Written:
    """Take a soft deletion back; an instruction comes back where there is still a directory."""
    if isinstance(row, Instruction):
        return change(row, at=at, deleted_at=None, directory_id=_living(row.directory_id))
    return change(row, at=at, deleted_at=None)


def _living(directory_id: UUID | None) -> UUID | None:
    """Return the directory, or the nearest one around it that was not deleted.

    Whoever has picked that one has picked what is inside, so going up widens nobody's scope.
    """
    while directory_id is not None:
        place = InstructionDirectory.every.get(pk=directory_id)
        if place.deleted_at is None:
            return directory_id
        directory_id = place.parent_id
    return None


def reread(row: Item | Instruction, *, at: datetime) -> Written:
    """Match a locked row by what stands beside it now, as the new name of its directory."""
    if text_of(row).is_what_was_indexed(row.content_hash):
        return Written(row.pk, Outcome.UNCHANGED)
    return cut_again(row, at=at)


def cut_again(row: Item | Instruction, *, at: datetime) -> Written:
    """Index a locked row anew, whatever its hash says; its texts become what they would be stored as."""
    named = {name: getattr(row, name) for name in WORDS if hasattr(row, name)}
    for name, value in as_stored(named).items():
        setattr(row, name, value)
    _new_generation(row, text_of(row), is_new=False)
    raise_desired(row.organization_id, category_of(row), row.pk, at=at, version=version_of(row))
    row.lock_version += 1
    row.updated_at = at
    row.save()
    return Written(row.pk, Outcome.UPDATED)


def _row(model: type[RowT], key: dict[str, Any], columns: dict[str, Any]) -> tuple[RowT, bool]:
    locked = model.objects.select_for_update(of=("self",), no_key=True)
    found = locked.filter(**key).first()
    if found is not None:
        return found, False
    try:
        with transaction.atomic():
            return model.objects.create(**key, **columns), True
    except IntegrityError:
        # Somebody else made it in this instant; theirs is the row to update.
        return locked.get(**key), False


def _write(
    row: Item | Instruction, columns: dict[str, Any], *, is_new: bool, at: datetime
) -> Written:
    changed = {name for name, value in columns.items() if getattr(row, name) != value}
    if not changed and not is_new:
        return Written(row.pk, Outcome.UNCHANGED)
    if "kind" in changed and getattr(row, "kind", "") != ItemKind.KNOWLEDGE:
        raise KindKept
    for name in changed:
        setattr(row, name, columns[name])
    text = text_of(row)
    if is_new or not text.is_what_was_indexed(row.content_hash, changed=changed):
        _new_generation(row, text, is_new=is_new)
        raise_desired(row.organization_id, category_of(row), row.pk, at=at, version=version_of(row))
    elif changed & LIFECYCLE:
        raise_desired(row.organization_id, category_of(row), row.pk, at=at, version=version_of(row))
    row.lock_version += 0 if is_new else 1
    row.updated_at = at
    row.save()
    return Written(row.pk, Outcome.CREATED if is_new else Outcome.UPDATED)


# A change of these changes what the index should hold; gates are evaluated live and need nothing.
LIFECYCLE = frozenset(
    {
        "deleted_at",
        "status",
        "review_status",
        "parse_status",
        "published_version",
        "dataset",
        "kind",
    }
)


def _new_generation(row: Item | Instruction, text: AssetText, *, is_new: bool) -> None:
    row.generation += 0 if is_new else 1
    row.content_hash = text.content_hash
    write_lexical_entries(
        row.organization_id, category_of(row), row.pk, text, generation=row.generation
    )


def text_of(row: Item | Instruction) -> AssetText:
    """Return what of a truth row is matched."""
    return text_of_item(row) if isinstance(row, Item) else text_of_instruction(row)


def category_of(row: Item | Instruction) -> str:
    """Return the category that names a truth row."""
    return Category.KNOWLEDGE if isinstance(row, Item) else Category.INSTRUCTION


def version_of(row: Item | Instruction) -> UUID | None:
    """Return the version that the index should hold; only golden answers have one."""
    return row.published_version if isinstance(row, Item) else None


def ensure_directory(organization_id: int, path: str) -> InstructionDirectory | None:
    """Return the directory at a path, made with its ancestors where missing; None for the root.

    Raises: FolderRefused
    """
    directory = None
    for name in segments(directory_path(path)):
        directory, _ = InstructionDirectory.objects.get_or_create(
            organization_id=organization_id, parent=directory, name=name
        )
    return directory
