"""What the index should hold of an asset now, read from its live truth row and nowhere else."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from knowledge.indexing.embedded import text_hash
from knowledge.indexing.texts import AssetText, text_of_instruction, text_of_item
from knowledge.models import (
    Category,
    Instruction,
    InstructionStatus,
    Item,
    ItemKind,
    ParseStatus,
    ReviewStatus,
)

TITLE_POSITION: Final = -1
INSTRUCTIONS: Final = "instructions"
_CHUNKS: Final = UUID("5a0a8f4e-6f0e-5d0a-9f5e-2b1f4c6a7d10")


@dataclass(frozen=True)
class Piece:
    """One text that gets a vector: a passage of the body, the title, or a phrasing."""

    position: int
    text: str
    start: int = 0
    end: int = 0
    section: str = ""

    @property
    def text_hash(self) -> str:
        """Return the hash under which its vector is found again."""
        return text_hash(self.text)


@dataclass(frozen=True)
class Live:
    """A truth row that should be indexed, as it is now."""

    category: str
    asset_id: UUID
    organization_id: int
    dataset: str
    generation: int
    version: UUID | None
    text: AssetText

    @property
    def document_key(self) -> str:
        """Return `organization:dataset:sha256`; two assets of equal text have two documents."""
        named = {"asset": str(self.asset_id), "content": self.text.content_hash}
        digest = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
        return f"{self.organization_id}:{self.dataset}:{digest}"

    def pieces(self) -> list[Piece]:
        """Return what is embedded: the one place that decides which texts of a row get vectors."""
        names = [self.text.title, *self.text.phrasings]
        named = [
            Piece(TITLE_POSITION - number, name)
            for number, name in enumerate(names)
            if name.strip()
        ]
        body = self.text.body
        return named + [
            Piece(p.position, p.indexed_text(body), p.start, p.end, " > ".join(p.section))
            for p in self.text.passages()
        ]


def chunk_id(organization_id: int, asset_id: UUID, position: int) -> UUID:
    """Return the id of a chunk: the same for ever for one organization, asset and position."""
    return uuid.uuid5(_CHUNKS, f"{organization_id}:{asset_id}:{position}")


def live_assets(organization_id: int, assets: Iterable[tuple[str, UUID]]) -> dict[UUID, Live]:
    """Return those of the assets that should be indexed now, by id.

    Shape: an asset that is deleted, unpublished, rejected or gone is left out.
    Cost:  one statement for each category.
    """
    named = list(assets)
    return {
        live.asset_id: live
        for live in (
            *_live_items(organization_id, _ids(named, Category.KNOWLEDGE)),
            *_live_instructions(organization_id, _ids(named, Category.INSTRUCTION)),
        )
    }


def _ids(assets: Sequence[tuple[str, UUID]], category: str) -> list[UUID]:
    return [asset_id for name, asset_id in assets if name == category]


def _live_items(organization_id: int, ids: list[UUID]) -> Iterable[Live]:
    rows = Item.objects.filter(
        organization_id=organization_id,
        pk__in=ids,
        deleted_at=None,
        review_status=ReviewStatus.APPROVED,
        parse_status__in=[ParseStatus.PARSED, ParseStatus.INGESTED],
    )
    for row in rows if ids else ():
        if row.kind != ItemKind.GOLDEN or row.published_version:
            yield Live(
                Category.KNOWLEDGE, row.pk, organization_id, row.dataset, row.generation,
                row.published_version, text_of_item(row),
            )  # fmt: skip


def _live_instructions(organization_id: int, ids: list[UUID]) -> Iterable[Live]:
    rows = Instruction.objects.filter(
        organization_id=organization_id,
        pk__in=ids,
        deleted_at=None,
        status=InstructionStatus.PUBLISHED,
    ).select_related("directory")
    for row in rows if ids else ():
        yield Live(
            Category.INSTRUCTION, row.pk, organization_id, INSTRUCTIONS, row.generation, None,
            text_of_instruction(row),
        )  # fmt: skip
