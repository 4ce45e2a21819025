"""A line of JSON is a row: its keys are few and known, and anything else is refused by name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn

from knowledge.errors import UnstorableText
from knowledge.ingestion.errors import InvalidRow, RowRefused, UnknownKeys, Unreadable
from knowledge.ingestion.limits import LONGEST_EXTERNAL_ID
from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.readers.markdown import first_heading
from knowledge.ingestion.readers.nesting import Inner
from knowledge.ingestion.readers.parsed import (
    FailedPart,
    ParsedText,
    Reading,
    one_line,
    parsed,
    title_from_name,
)
from knowledge.text.normalising import refuse_unstorable

REQUIRED: Final = ("id", "title", "text")
KEYS: Final = frozenset(
    {
        *REQUIRED, "url", "folder", "lang", "channels", "segments", "jurisdictions", "visibility",
        "valid_from", "valid_until", "metadata",
    }
)  # fmt: skip
LABEL_KEYS: Final = KEYS - {*REQUIRED, "folder"}
MOST_NAMED: Final = 20


def read_lines(_name: str, data: bytes, _inner: Inner) -> Iterator[Reading]:
    """Yield the text of every line of a file.

    Raises: BinaryContent, UnknownEncoding
    """
    for number, line in enumerate(decode(data).split("\n"), start=1):
        if line.strip():
            yield read_line(line, number)


def read_line(line: str, number: int) -> Reading:
    """Return the text in a line of JSON, or why there is none."""
    key = ""
    try:
        said = _object(line)
        key = _key(said)
        return replace(_text_of(said, key), line=number)
    except Unreadable as error:
        return FailedPart(error, line=number, key=key)


def _text_of(said: dict[str, Any], key: str) -> ParsedText:
    unknown = sorted(set(said) - KEYS)
    if unknown:
        named = ", ".join(f'"{one_line(each)[:60]}"' for each in unknown[:MOST_NAMED])
        raise UnknownKeys(f"Unknown keys: {named}")
    missing = [each for each in REQUIRED if each not in said]
    if missing:
        raise RowRefused("Missing keys: " + ", ".join(f'"{each}"' for each in missing))
    found = parsed("", _text(said, "text"))
    return replace(
        found,
        title=one_line(_text(said, "title") or first_heading(found.body)) or title_from_name(key),
        key=key,
        folder=_text(said, "folder") if said.get("folder") is not None else "",
        labels={each: value for each, value in said.items() if each in LABEL_KEYS},
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


def _key(said: Mapping[str, Any]) -> str:
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
