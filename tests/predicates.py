"""The conditions of SQL statements, one by one, and each statement again without one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPENERS = re.compile(r"\b(WHERE|ON)\b")
_CLOSERS = re.compile(
    r"\b(GROUP BY|ORDER BY|LIMIT|OFFSET|UNION|WINDOW|LEFT|INNER|CROSS|JOIN|WHERE|FOR UPDATE)\b"
)
_AND = re.compile(r"\bAND\b")


def predicates(sql: str) -> list[str]:
    """Return every condition that WHERE and ON join with AND, in whatever brackets it stands.

    FILTER belongs to a sum and CASE is one condition; what lies in a sub-select is read for itself.
    """
    return list(dict.fromkeys(sql[start:end] for start, end in _spans(sql)))


def without(sql: str, predicate: str) -> str:
    """Return the statement with this condition true wherever it stands; it takes the same values."""
    values = "".join(" OR (%s)::text IS NULL" for _ in range(predicate.count("%s")))
    true = f"(true{values})" if values else "true"
    for start, end in sorted(_spans(sql), reverse=True):
        if sql[start:end] == predicate:
            sql = sql[:start] + true + sql[end:]
    return sql


def _spans(sql: str) -> Iterator[tuple[int, int]]:
    depths = _depths(sql)
    for found in _OPENERS.finditer(sql):
        if sql[: found.start()].endswith("FILTER (") or sql[: found.start()].endswith("DISTINCT "):
            continue
        yield from _conjuncts(sql, found.end(), _end(sql, depths, found.end()), depths)


def _conjuncts(sql: str, start: int, end: int, depths: list[int]) -> Iterator[tuple[int, int]]:
    start, end = _trimmed(sql, start, end)
    while sql[start] == "(" and _closing(depths, start) == end - 1:
        start, end = _trimmed(sql, start + 1, end - 1)
    level = depths[start] - (sql[start] == "(")
    cuts = [
        found.span()
        for found in _AND.finditer(sql, start, end)
        if depths[found.start()] == level
        and not re.search(r"\bBETWEEN\s+\S+\s*$", sql[start : found.start()])
        and not _is_inside_a_case(sql[start : found.start()])
    ]
    if not cuts:
        yield start, end
        return
    edges = [start, *(edge for cut in cuts for edge in cut), end]
    for left, right in zip(edges[::2], edges[1::2], strict=True):
        yield from _conjuncts(sql, left, right, depths)


def _is_inside_a_case(before: str) -> bool:
    words = re.findall(r"\b(CASE|END)\b", before)
    return words.count("CASE") > words.count("END")


def _end(sql: str, depths: list[int], start: int) -> int:
    level = depths[start]
    for place in range(start, len(sql)):
        if depths[place] < level or (sql[place] == ")" and depths[place] == level):
            return place
        if depths[place] == level and _CLOSERS.match(sql, place):
            return place
    return len(sql)


def _closing(depths: list[int], start: int) -> int:
    after = (i for i in range(start + 1, len(depths)) if depths[i] < depths[start])
    return next(after, len(depths)) - 1


def _trimmed(sql: str, start: int, end: int) -> tuple[int, int]:
    while sql[start].isspace():
        start += 1
    while sql[end - 1].isspace():
        end -= 1
    return start, end


def _depths(sql: str) -> list[int]:
    """Return how deep in brackets each character stands; a bracket itself counts as inside."""
    depths: list[int] = []
    level, quoted = 0, False
    for sign in sql:
        quoted ^= sign == "'"
        level += sign == "(" and not quoted
        depths.append(level)
        level -= sign == ")" and not quoted
    return depths
