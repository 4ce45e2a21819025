"""What a file or row says about itself beside its text: checked, and never guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from knowledge.errors import UnstorableText
from knowledge.indexing.writing import NO_LIMIT, Limit, only
from knowledge.ingestion.errors import RowRefused
from knowledge.ingestion.limits import LARGEST_METADATA, LONGEST_URL
from knowledge.models import Visibility
from knowledge.text.normalising import refuse_unstorable

CHANNEL: Final = re.compile(r"[a-z0-9_-]{1,32}")
COUNTRY: Final = re.compile(r"[A-Z]{2}")
LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,2}")
LONGEST_LANGUAGE: Final = 16


@dataclass(frozen=True)
class Labels:
    """Columns and gates that were said; what is absent was not said and stays as it is."""

    columns: dict[str, Any] = field(default_factory=dict)
    gates: dict[str, Any] = field(default_factory=dict)


def read_labels(said: Mapping[str, Any], segments: Mapping[str, UUID]) -> Labels:
    """Return what is said under the keys of an import row; null lifts a restriction.

    Raises: RowRefused
    """
    gates = {name: read(said[name]) for name, read in _GATES.items() if name in said}
    if "segments" in said:
        gates["segments"] = _limit(
            said["segments"], "segments", lambda name: _segment(name, segments)
        )
    if said.get("visibility") is not None:
        gates["visibility"] = _visibility(said["visibility"])
    _refuse_empty_time(gates)
    columns = {column: read(said[key]) for key, (column, read) in _COLUMNS.items() if key in said}
    return Labels(columns, gates)


def _visibility(value: Any) -> str:
    if value not in Visibility.values:
        raise RowRefused('"visibility" is "public" or "internal".')
    return str(value)


def _limit(value: Any, key: str, read: Callable[[str], Any]) -> Limit:
    if value is None:
        return NO_LIMIT
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise RowRefused(f'"{key}" is a list of texts.')
    if not value:
        raise RowRefused(f'"{key}" is empty: write null for no restriction, or leave the key out.')
    return only(*{read(each.strip()) for each in value})


def _segment(slug: str, segments: Mapping[str, UUID]) -> UUID:
    if slug not in segments:
        raise RowRefused(f'There is no segment "{slug[:60]}".')
    return segments[slug]


def _channels(value: Any) -> Limit:
    return _limit(value, "channels", _channel)


def _channel(name: str) -> str:
    if not CHANNEL.fullmatch(name):
        raise RowRefused("A channel is a lower-case name, such as phone.")
    return name


def _jurisdictions(value: Any) -> Limit:
    return _limit(value, "jurisdictions", _country)


def _country(name: str) -> str:
    if not COUNTRY.fullmatch(name.upper()):
        raise RowRefused("A jurisdiction is a country code of two letters, such as DE.")
    return name.upper()


def _instant(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        instant = _parsed_instant(str(value))
    except ValueError as error:
        raise RowRefused('A time is written as "2026-01-31" or "2026-01-31T09:00:00Z".') from error
    return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)


def _parsed_instant(text: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(text), datetime.min.time())
    except ValueError:
        return datetime.fromisoformat(text)


def _refuse_empty_time(gates: Mapping[str, Any]) -> None:
    start, end = gates.get("valid_from"), gates.get("valid_until")
    if start is not None and end is not None and start >= end:
        raise RowRefused('"valid_from" is not before "valid_until".')


def _url(value: Any) -> str:
    if value is None or value == "":
        return ""
    text = _storable(value, "url")
    try:
        address = urlsplit(text)
    except ValueError as error:
        raise RowRefused('"url" is no web address.') from error
    if address.scheme not in {"http", "https"} or not address.netloc or len(text) > LONGEST_URL:
        raise RowRefused('"url" is a web address that starts with http:// or https://.')
    return text


def _language(value: Any) -> str:
    if value is None or value == "":
        return ""
    text = _storable(value, "lang")
    if not LANGUAGE.fullmatch(text) or len(text) > LONGEST_LANGUAGE:
        raise RowRefused('"lang" is a language code such as en or pt-BR.')
    return text.replace("_", "-")


def _metadata(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RowRefused('"metadata" is an object.')
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
        refuse_unstorable(text)
    except (ValueError, RecursionError, UnstorableText) as error:
        raise RowRefused('"metadata" holds something that JSON cannot store.') from error
    if "\\u0000" in text or len(text.encode()) > LARGEST_METADATA:
        raise RowRefused('"metadata" is too large or holds a NUL.')
    stored: dict[str, Any] = json.loads(text)
    return stored


def _storable(value: Any, key: str) -> str:
    try:
        refuse_unstorable(str(value))
    except UnstorableText as error:
        raise RowRefused(f'"{key}" holds a character that cannot be stored.') from error
    if not isinstance(value, str):
        raise RowRefused(f'"{key}" is a text.')
    return value.strip()


_GATES: Final[dict[str, Callable[[Any], Any]]] = {
    "channels": _channels,
    "jurisdictions": _jurisdictions,
    "valid_from": _instant,
    "valid_until": _instant,
}
_COLUMNS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "url": ("url", _url),
    "lang": ("language", _language),
    "metadata": ("metadata", _metadata),
}
