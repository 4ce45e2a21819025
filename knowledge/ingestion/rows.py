"""A row is one text to bring in; it comes from a file, a part of one, or a line of JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from knowledge.errors import KnowledgeError, UnstorableText
from knowledge.ingestion.errors import (
    InvalidRow,
    RowRefused,
    UnknownKeys,
    Unreadable,
)
from knowledge.ingestion.limits import LONGEST_EXTERNAL_ID
from knowledge.ingestion.readers.markdown import first_heading
from knowledge.ingestion.readers.parsed import one_line, parsed, title_from_name
from knowledge.text.normalising import refuse_unstorable

REQUIRED: Final = ("id", "title", "text")
KEYS: Final = frozenset(
    {
        *REQUIRED, "url", "folder", "lang", "channels", "segments", "jurisdictions", "visibility",
        "valid_from", "valid_until", "metadata",
    }
)  # fmt: skip
LABEL_KEYS: Final = KEYS - {*REQUIRED, "folder"}


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


def row_from_line(line: str, origin: Origin) -> Row | Failed:
    """Return the row in a line of JSON, or why there is none."""
    external_id = None
    try:
        said = _object(line)
        external_id = _external_id(said)
        return _row(said, external_id, origin)
    except Unreadable as error:
        return Failed(origin, error, external_id)


def _row(said: dict[str, Any], external_id: str, origin: Origin) -> Row:
    unknown = sorted(set(said) - KEYS)
    if unknown:
        raise UnknownKeys(
            "Unknown keys: " + ", ".join(f'"{one_line(key)[:60]}"' for key in unknown[:20])
        )
    missing = [key for key in REQUIRED if key not in said]
    if missing:
        raise RowRefused("Missing keys: " + ", ".join(f'"{key}"' for key in missing))
    text = parsed("", _text(said, "text"))
    title = one_line(_text(said, "title"))
    return Row(
        origin,
        external_id,
        title or one_line(first_heading(text.body)) or title_from_name(external_id),
        text.body,
        folder=_text(said, "folder") if said.get("folder") is not None else "",
        said={key: value for key, value in said.items() if key in LABEL_KEYS},
    )


def _object(line: str) -> dict[str, Any]:
    try:
        said = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidRow from error
    if not isinstance(said, dict):
        raise InvalidRow
    return said


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _text(said: Mapping[str, Any], key: str) -> str:
    value = said[key]
    if not isinstance(value, str):
        raise RowRefused(f'"{key}" is a text.')
    return value


def _external_id(said: Mapping[str, Any]) -> str:
    value = said.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise RowRefused('"id" is a text that is not empty.')
    try:
        refuse_unstorable(value)
    except UnstorableText as error:
        raise RowRefused('"id" holds a character that cannot be stored.') from error
    if len(value.strip()) > LONGEST_EXTERNAL_ID:
        raise RowRefused(f'"id" is longer than {LONGEST_EXTERNAL_ID} characters.')
    return value.strip()


def shortened(external_id: str) -> str:
    """Return an id made from a path at the length an id may have; long ones keep their beginning."""
    if len(external_id) <= LONGEST_EXTERNAL_ID:
        return external_id
    digest = hashlib.sha256(external_id.encode()).hexdigest()[:32]
    return f"{external_id[: LONGEST_EXTERNAL_ID - 33]}#{digest}"
