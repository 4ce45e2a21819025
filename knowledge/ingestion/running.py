"""An import while it runs: what it is asked, where it writes, and what it has seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from knowledge.ingestion.remembering import Memory
from knowledge.ingestion.request import Clock, ImportRequest
from knowledge.ingestion.targets import Target
from knowledge.models import ImportRun


@dataclass
class Progress:
    """How far an import is; `withheld` were deleted by staff and stay so."""

    bytes: int = 0
    total_bytes: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    withheld: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return what staff are told of it beside the counts."""
        return {
            "bytes": self.bytes,
            "total_bytes": self.total_bytes,
            "skipped": dict(self.skipped),
            "withheld": self.withheld,
        }


Watch = Callable[[Progress], None]


@dataclass
class Import:
    """An import that is running; ids are as the table has them.

    `present` are ids that are still there, read or not; `taken` are ids already written by it.
    """

    request: ImportRequest
    target: Target
    run: ImportRun
    clock: Clock
    progress: Progress = field(default_factory=Progress)
    present: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    # Ids whose row was refused: the file that holds them is parsed again next time.
    refused: set[str] = field(default_factory=set)
    memory: Memory | None = None
    # Whether everything that is there is known to be, so that the rest is known to be gone.
    is_certain: bool = True

    @property
    def organization_id(self) -> int:
        """Return whose content it is."""
        return self.request.organization_id
