"""Where rows go: items of a source, or instructions below a directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from uuid import UUID

from django.db.models import Q, QuerySet

from knowledge.errors import FolderRefused
from knowledge.folders import directory_path, folder_key, is_within, prefix_range
from knowledge.indexing.bulk import Content, Truth
from knowledge.indexing.writing import InstructionContent, ItemContent, ensure_directory
from knowledge.ingestion.labels import Labels, read_labels
from knowledge.ingestion.merging import merged_instruction, merged_item
from knowledge.ingestion.request import ImportRequest
from knowledge.ingestion.rows import Row, shortened
from knowledge.models import Instruction, InstructionDirectory, Item, ItemKind, Source

OPEN: Final = frozenset({"visibility", "lang"})


class Target(Protocol):
    """What an import needs of the table it writes."""

    def prepare(self, rows: Sequence[Row]) -> Mapping[str, Truth]:
        """Lock and return the truth rows that are there already, by the rows' external ids."""

    def content(self, row: Row, existing: Truth | None) -> Content:
        """Return the truth row as the row says it should be; nothing is written."""

    def filed_here(self) -> QuerySet[Any]:
        """Return every live truth row of this import's place."""

    def stored_id(self, external_id: str) -> str:
        """Return the external id as the table has it."""


@dataclass(frozen=True)
class ItemTarget:
    """Items of one source, below one folder."""

    request: ImportRequest
    source: Source
    segments: Mapping[str, UUID]

    def prepare(self, rows: Sequence[Row]) -> Mapping[str, Item]:
        """Lock and return the items that are there already, by external id."""
        found = self._all().filter(external_id__in=[row.external_id for row in rows])
        return {
            item.external_id: item for item in found.select_for_update(no_key=True).order_by("id")
        }

    def content(self, row: Row, existing: Truth | None) -> ItemContent:
        """Return the item as the row says it should be.

        Raises: RowRefused, FolderRefused
        """
        content = ItemContent(
            organization_id=self.request.organization_id,
            source_id=self.source.pk,
            external_id=row.external_id,
            title=row.title,
            body=row.body,
            folder_key=folder_key(self.source.slug, f"{self.request.folder}/{row.folder}"),
        )
        item = existing if isinstance(existing, Item) else None
        return merged_item(content, item, _labels(self, row))

    def filed_here(self) -> QuerySet[Item]:
        """Return every live item of the source in the folder or below it."""
        key = folder_key(self.source.slug, self.request.folder)
        low, high = prefix_range(key)
        inside = Q(folder_key=key) | Q(folder_key__gte=low, folder_key__lt=high)
        return self._all().filter(inside, deleted_at=None, kind=ItemKind.KNOWLEDGE)

    def stored_id(self, external_id: str) -> str:
        """Return it as it is: the source keeps ids apart."""
        return external_id

    def _all(self) -> QuerySet[Item]:
        return Item.objects.filter(
            organization_id=self.request.organization_id, source_id=self.source.pk
        )


@dataclass(frozen=True)
class InstructionTarget:
    """Instructions of one import source, below one directory."""

    request: ImportRequest
    segments: Mapping[str, UUID]
    directories: dict[str, UUID | None] = field(default_factory=dict)

    def prepare(self, rows: Sequence[Row]) -> Mapping[str, Instruction]:
        """Make the rows' directories; lock and return the instructions that are there already."""
        self.directories.clear()
        for row in rows:
            with suppress(FolderRefused):
                self._directory(row)
        names = {self.stored_id(row.external_id): row.external_id for row in rows}
        found = self._all().filter(external_id__in=list(names)).select_related("directory")
        locked = found.select_for_update(of=("self",), no_key=True).order_by("id")
        return {names[each.external_id]: each for each in locked}

    def content(self, row: Row, existing: Truth | None) -> InstructionContent:
        """Return the instruction as the row says it should be.

        Raises: RowRefused, FolderRefused
        """
        content = InstructionContent(
            organization_id=self.request.organization_id,
            external_id=self.stored_id(row.external_id),
            title=row.title,
            body=row.body,
            directory_id=self._directory(row),
        )
        instruction = existing if isinstance(existing, Instruction) else None
        return merged_instruction(content, instruction, _labels(self, row))

    def filed_here(self) -> QuerySet[Instruction]:
        """Return every live instruction of the source in the directory or below it."""
        live = self._all().filter(deleted_at=None, external_id__startswith=self.stored_id(""))
        place = directory_path(self.request.folder)
        return live.filter(directory__in=self._directories_within(place)) if place else live

    def stored_id(self, external_id: str) -> str:
        """Return it behind the source's name, which keeps ids of instructions apart."""
        return shortened(f"{self.request.source}:{external_id}")

    def _all(self) -> QuerySet[Instruction]:
        return Instruction.objects.filter(organization_id=self.request.organization_id)

    def _directory(self, row: Row) -> UUID | None:
        path = directory_path(f"{self.request.folder}/{row.folder}")
        if path not in self.directories:
            directory = ensure_directory(self.request.organization_id, path)
            self.directories[path] = directory.pk if directory else None
        return self.directories[path]

    def _directories_within(self, place: str) -> list[UUID]:
        found = InstructionDirectory.objects.filter(organization_id=self.request.organization_id)
        known = {each.pk: each for each in found}
        return [pk for pk in known if is_within(_path(pk, known), place)]


def _path(pk: UUID | None, known: Mapping[UUID, InstructionDirectory]) -> str:
    names: list[str] = []
    while pk is not None:
        names.append(known[pk].name)
        pk = known[pk].parent_id
    return "/".join(reversed(names))


def _labels(target: ItemTarget | InstructionTarget, row: Row) -> Labels:
    defaults = target.request.defaults
    # A label that a row leaves open is not the same as one it sets to something else.
    said = {key: value for key, value in row.said.items() if value or key not in OPEN}
    return read_labels({**defaults, **said}, target.segments)
