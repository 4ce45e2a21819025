"""A row is one text to bring in; it comes from a file, a part of one, or a line of JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knowledge.errors import KnowledgeError
from knowledge.ingestion.limits import LONGEST_EXTERNAL_ID


@dataclass(frozen=True)
class Origin:
    """Where a row comes from, as staff find it again."""

    path: str
    line: int | None = None


@dataclass(frozen=True)
class Row:
    """One text with the id it has in its source; `said` holds the labels under their row keys."""

    origin: Origin
    external_id: str
    title: str
    body: str
    folder: str = ""
    said: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed:
    """A file or row that could not be brought in; without an id nobody knows what it was."""

    origin: Origin
    error: KnowledgeError
    external_id: str | None = None


def shortened(external_id: str) -> str:
    """Return an id made from a path at the length an id may have; long ones keep their beginning."""
    if len(external_id) <= LONGEST_EXTERNAL_ID:
        return external_id
    digest = hashlib.sha256(external_id.encode()).hexdigest()[:32]
    return f"{external_id[: LONGEST_EXTERNAL_ID - 33]}#{digest}"
