"""Read a JSON body that may have been written by an enemy."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final, NoReturn

from django.utils.http import parse_header_parameters
from rest_framework.parsers import BaseParser

from tenants.refusals import BodyTooLarge, InvalidRequest, MalformedBody, MediaTypeRefused

MOST_BYTES: Final = 256 * 1024
DEEPEST: Final = 8
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


class StrictJSONParser(BaseParser):
    """One JSON object in UTF-8, bounded in size and depth, with every field given once."""

    media_type = "application/json"
    most_bytes = MOST_BYTES

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Return the object.

        Raises: MediaTypeRefused, BodyTooLarge, MalformedBody, InvalidRequest
        """
        if _charset(media_type or self.media_type) not in {"utf-8", "utf8"}:
            raise MediaTypeRefused
        return read_object(_bounded(stream, self.most_bytes))


def read_object(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in these bytes.

    Raises: MalformedBody, InvalidRequest
    """
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_once, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        raise MalformedBody from None
    if not isinstance(value, dict):
        raise MalformedBody
    for leaf in _leaves(value):
        _refuse_unstorable(leaf)
    return value


def _charset(media_type: str) -> str:
    try:
        _, parameters = parse_header_parameters(media_type)
    except ValueError:
        raise MediaTypeRefused from None
    return parameters.get("charset", "utf-8").lower()


def _bounded(stream: IO[Any], most: int) -> bytes:
    try:
        raw: bytes = stream.read(most + 1)
    except OSError:
        raise MalformedBody from None
    if len(raw) > most:
        raise BodyTooLarge
    return raw


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = [name for name, count in counts.items() if count > 1]
        raise InvalidRequest(fields={name: ["Given more than once."] for name in twice})
    return found


def _refuse_constant(_name: str) -> NoReturn:
    raise ValueError


def _leaves(value: Any) -> Iterator[Any]:
    """Yield keys and values without recursion.

    Raises: MalformedBody where it is nested too deeply
    """
    waiting = [(value, 1)]
    while waiting:
        current, depth = waiting.pop()
        if depth > DEEPEST:
            raise MalformedBody
        if isinstance(current, dict):
            yield from current
            waiting += [(child, depth + 1) for child in current.values()]
        elif isinstance(current, list):
            waiting += [(child, depth + 1) for child in current]
        else:
            yield current


def _refuse_unstorable(leaf: Any) -> None:
    if isinstance(leaf, str) and _UNSTORABLE.search(leaf):
        raise MalformedBody
    if isinstance(leaf, float) and not math.isfinite(leaf):
        raise MalformedBody
