"""Rows of cells as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from knowledge.ingestion.errors import TooLarge
from knowledge.ingestion.limits import MOST_CELLS


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """Return the rows as a table whose header is the first row; empty rows and columns are left out.

    Raises: TooLarge
    """
    kept: list[list[str]] = []
    cells = 0
    for row in rows:
        clean = [_cell(value) for value in row]
        if any(clean):
            kept.append(clean)
            cells += len(clean)
        if cells > MOST_CELLS:
            raise TooLarge(f"A table has more than {MOST_CELLS:,} cells.")
    return _drawn(_without_empty_columns(kept))


def _cell(value: str) -> str:
    return " ".join(value.replace("|", "\\|").split())


def _without_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    width = max(map(len, rows), default=0)
    padded = [row + [""] * (width - len(row)) for row in rows]
    used = [column for column in range(width) if any(row[column] for row in padded)]
    return [[row[column] for column in used] for row in padded]


def _drawn(rows: list[list[str]]) -> str:
    if not rows:
        return ""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
