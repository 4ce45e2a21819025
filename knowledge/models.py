"""Every table of knowledge, under the name that other modules import."""

from __future__ import annotations

from knowledge.tables.derived import (
    Category,
    Chunk,
    Document,
    EmbeddedText,
    EmbeddingSpace,
    IndexState,
    LexicalEntry,
    SpaceGap,
    Vector,
)
from knowledge.tables.editing import InstructionDraft, InstructionVersion
from knowledge.tables.jobs import BulkAction, BulkEntry, BulkJob
from knowledge.tables.records import (
    CalibrationProfile,
    CorpusTerm,
    ImportFailure,
    ImportRun,
    SearchRecord,
)
from knowledge.tables.sources import (
    ImportedFile,
    ImportUpload,
    ProviderPause,
    SourcePage,
    SourceSchedule,
    SyncKind,
    UsageEntry,
)
from knowledge.tables.truth import (
    Dataset,
    EntityAlias,
    Instruction,
    InstructionDirectory,
    InstructionStatus,
    Item,
    ItemKind,
    ParseStatus,
    ReviewStatus,
    Source,
    SourceKind,
    Visibility,
)

__all__ = [
    "BulkAction",
    "BulkEntry",
    "BulkJob",
    "CalibrationProfile",
    "Category",
    "Chunk",
    "CorpusTerm",
    "Dataset",
    "Document",
    "EmbeddedText",
    "EmbeddingSpace",
    "EntityAlias",
    "ImportFailure",
    "ImportRun",
    "ImportUpload",
    "ImportedFile",
    "IndexState",
    "Instruction",
    "InstructionDirectory",
    "InstructionDraft",
    "InstructionStatus",
    "InstructionVersion",
    "Item",
    "ItemKind",
    "LexicalEntry",
    "ParseStatus",
    "ProviderPause",
    "ReviewStatus",
    "SearchRecord",
    "Source",
    "SourceKind",
    "SourcePage",
    "SourceSchedule",
    "SpaceGap",
    "SyncKind",
    "UsageEntry",
    "Vector",
    "Visibility",
]
