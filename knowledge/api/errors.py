"""What the content API refuses, and the status each error from below is told with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from knowledge.errors import FolderRefused, KindKept, KnowledgeError, NameReserved
from knowledge.indexing.filing import DirectoryRefused
from knowledge.ingestion.errors import RowRefused
from knowledge.shelving.errors import (
    CannotUndo,
    FolderChanged,
    FolderGone,
    FolderInUse,
    NothingChosen,
    NotOurs,
    RestoreTooLate,
    SourceFilesIt,
    StaysInSource,
)
from knowledge.sources.errors import AddressRefused, NothingToConfirm, SourceMisconfigured
from tenants.errors import EarmarkError


class ContentWithdrawn(KnowledgeError):
    """This was deleted by staff; restore it first."""

    code = "content_withdrawn"


class NameTaken(KnowledgeError):
    """Another one has this name already."""

    code = "name_taken"


class StillUsed(KnowledgeError):
    """Something is still filed in it or picked through it."""

    code = "still_used"


STATUSES: Final[Mapping[type[EarmarkError], int]] = {
    ContentWithdrawn: 409,
    NotOurs: 409,
    KindKept: 409,
    RestoreTooLate: 409,
    NameTaken: 409,
    NameReserved: 409,
    StillUsed: 409,
    FolderGone: 404,
    FolderInUse: 409,
    FolderChanged: 409,
    SourceFilesIt: 409,
    CannotUndo: 409,
    StaysInSource: 422,
    NothingChosen: 422,
    FolderRefused: 422,
    DirectoryRefused: 422,
    RowRefused: 422,
    SourceMisconfigured: 422,
    AddressRefused: 422,
    NothingToConfirm: 409,
}
