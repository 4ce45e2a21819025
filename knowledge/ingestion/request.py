"""What an import is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tenants.auditing import Actor

Clock = Callable[[], datetime]
BY_COMMAND: Final = Actor.process("ingest")


@dataclass(frozen=True)
class ImportRequest:
    """Bring these paths into a folder of a source, or into a directory of instructions."""

    organization_id: int
    paths: tuple[str, ...]
    source: str
    folder: str = ""
    instructions: bool = False
    language: str = ""
    visibility: str = ""
    prune: bool = False
    prune_anyway: bool = False
    by: Actor = BY_COMMAND

    @property
    def defaults(self) -> dict[str, str]:
        """Return what holds for rows that say nothing themselves, under row keys."""
        said = {"lang": self.language, "visibility": self.visibility}
        return {key: value for key, value in said.items() if value}

    @property
    def label(self) -> str:
        """Return what staff read in the list of imports."""
        where = f"{self.source}/{self.folder}" if self.folder else self.source
        return f"{', '.join(self.paths)} → {where}"[:400]
