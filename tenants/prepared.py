"""Statements that the server keeps ready: parsed and planned once for each connection.

For the few that every search asks. Behind a pooler that keeps no prepared statements
(EARMARK_PREPARED_STATEMENTS=0) they are sent like all others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import psycopg
from django.db import connection
from pgvector import HalfVector
from psycopg.adapt import Dumper
from psycopg.pq import Format

_PLACE: Final = re.compile(r"%(?:\((\w+)\)s|(%))")
_MOST_STATEMENTS: Final = 256


class _HalfVectorDumper(Dumper):
    """Sends the bytes as they are; the statement says what they are."""

    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        """Return what PostgreSQL receives."""
        sent: bytes = obj.to_binary()
        return sent


class _Kept(psycopg.RawCursor[tuple[Any, ...]]):
    def execute(self, query: Any, params: Any = None, **_how: Any) -> Any:
        statement, names = placed_by_number(query)
        values = [params[name] for name in names]
        return super().execute(statement, values, prepare=True, binary=True)


def rows_of(sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a statement with named places, which may be given more than it names.

    Expects an open transaction, as every reader of tenant tables has one.
    """
    connection.ensure_connection()
    kept: Any = _Kept(connection.connection)
    kept.adapters.register_dumper(HalfVector, _HalfVectorDumper)
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with wrap(kept) as cursor:
        cursor.execute(sql, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


@lru_cache(_MOST_STATEMENTS)
def placed_by_number(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the statement as PostgreSQL prepares it, and the name of each of its places."""
    names: dict[str, str] = {}

    def numbered(place: re.Match[str]) -> str:
        if place[2]:
            return "%"
        return names.setdefault(place[1], f"${len(names) + 1}")

    return _PLACE.sub(numbered, sql).encode(), tuple(names)
