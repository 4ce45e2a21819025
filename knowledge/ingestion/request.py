"""What an import is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

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
    # Whether another process that sees the same files may be told to do it again.
    is_repeatable: bool = False

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

    def as_json(self) -> dict[str, Any]:
        """Return what another process needs to do the same again; what has gone is not pruned then."""
        said = asdict(self)
        return {name: said[name] for name in _REPEATED}

    @classmethod
    def from_json(cls, organization_id: int, said: dict[str, Any], *, by: Actor) -> ImportRequest:
        """Return the request that was kept."""
        kept = {name: said[name] for name in _REPEATED}
        paths = tuple(kept.pop("paths"))
        return cls(organization_id, paths, by=by, is_repeatable=True, **kept)


_REPEATED: Final = ("paths", "source", "folder", "instructions", "language", "visibility")
