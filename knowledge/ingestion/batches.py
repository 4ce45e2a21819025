"""Rows in batches: one transaction for many small rows, soon enough to see progress."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from knowledge.ingestion.gathering import FileDone, Gathered
from knowledge.ingestion.remembering import Remembered
from knowledge.ingestion.rows import Failed, Row

MOST_ROWS: Final = 100
MOST_CHARACTERS: Final = 2_000_000
LONGEST_S: Final = 2.0


@dataclass
class Batch:
    """Rows to write in one transaction, what failed meanwhile, and which files are done."""

    rows: list[Row] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    remembered: list[Remembered] = field(default_factory=list)
    kept: int = 0
    size: int = 0

    def add(self, gathered: Gathered | FileDone) -> None:
        """Take in what was gathered."""
        if isinstance(gathered, FileDone):
            self._add_file(gathered)
            return
        self.size += gathered.size
        if isinstance(gathered.row, Failed):
            self.failed.append(gathered.row)
        else:
            self.rows.append(gathered.row)

    def _add_file(self, file: FileDone) -> None:
        self.done.append(file.path)
        self.kept += len(file.kept)
        self.size += file.size
        if file.remembered is not None:
            self.remembered.append(file.remembered)

    @property
    def is_full(self) -> bool:
        """Whether it should be written now."""
        characters = sum(len(row.body) for row in self.rows)
        most = max(len(self.rows), len(self.failed), len(self.done))
        return most >= MOST_ROWS or characters >= MOST_CHARACTERS


def batched(gathered: Iterable[Gathered | FileDone]) -> Iterator[Batch]:
    """Yield everything gathered, in batches."""
    batch, began = Batch(), time.monotonic()
    for each in gathered:
        batch.add(each)
        if batch.is_full or time.monotonic() - began > LONGEST_S:
            yield batch
            batch, began = Batch(), time.monotonic()
    yield batch
