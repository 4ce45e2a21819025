"""A truth row as it should be: what a row says, and for the rest what staff have there already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from knowledge.indexing.writing import Gates, InstructionContent, ItemContent, Limit
from knowledge.ingestion.errors import NOT_IMPORTED, RowRefused
from knowledge.ingestion.labels import Labels
from knowledge.models import Instruction, Item, ItemKind

KEPT_OF_ITEM = (
    "language", "url", "kind", "dataset", "review_status", "published_version", "uploader_id",
    "source_tag", "metadata",
)  # fmt: skip
KEPT_OF_INSTRUCTION = ("language", "status")


def merged_item(content: ItemContent, existing: Item | None, labels: Labels) -> ItemContent:
    """Return the item with its labels; a restriction that is not spoken of is never lost.

    Raises: RowRefused
    """
    if existing is not None:
        if existing.kind != ItemKind.KNOWLEDGE:
            raise RowRefused(NOT_IMPORTED)
        content = replace(
            content,
            **_kept(existing, KEPT_OF_ITEM),
            agents=Limit(existing.agent_restricted, tuple(existing.agents)),
            phrasings=tuple(existing.phrasings),
        )
    return replace(content, gates=_gates(existing, labels), **labels.columns)


def merged_instruction(
    content: InstructionContent, existing: Instruction | None, labels: Labels
) -> InstructionContent:
    """Return the instruction with its labels; it has no address and no metadata."""
    if existing is not None:
        content = replace(content, **_kept(existing, KEPT_OF_INSTRUCTION))
    language = labels.columns.get("language", content.language)
    return replace(content, gates=_gates(existing, labels), language=language)


def _kept(existing: Item | Instruction, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(existing, name) for name in names}


def _gates(existing: Item | Instruction | None, labels: Labels) -> Gates:
    if existing is None:
        return Gates(**labels.gates)
    kept = Gates(
        visibility=existing.visibility,
        channels=Limit(existing.channel_restricted, tuple(existing.channels)),
        segments=Limit(existing.segment_restricted, tuple(existing.segments)),
        jurisdictions=Limit(existing.jurisdiction_restricted, tuple(existing.jurisdictions)),
        valid_from=existing.valid_from,
        valid_until=existing.valid_until,
    )
    return replace(kept, **labels.gates)
