"""Files inside files: each is read as if it lay there by itself, within one budget for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from knowledge.ingestion.errors import TooManyEntries, Unreadable
from knowledge.ingestion.limits import ARCHIVE_DEPTH
from knowledge.ingestion.readers.parsed import FailedPart, ParsedText, Reading
from knowledge.ingestion.readers.zipped import Budget

INSIDE: Final = "!/"


@dataclass
class Nest:
    """How deep a file lies inside others, and what these may still unpack to."""

    depth: int = 0
    budget: Budget = field(default_factory=Budget)


Parse = Callable[[str, bytes, Nest], Iterable[Reading]]


@dataclass
class Inner:
    """How a reader of files that hold files has those read."""

    parse: Parse
    nest: Nest

    def read(self, place: str, load: Callable[[], bytes], *, folder: str) -> Iterator[Reading]:
        """Yield the texts of a part under its name, filed below the folder; it fails alone."""
        inner = "/".join(filter(None, (folder, place.rpartition("/")[0])))
        try:
            if self.nest.depth >= ARCHIVE_DEPTH:
                raise TooManyEntries(f"Files lie inside each other more than {ARCHIVE_DEPTH} deep.")
            deeper = Nest(self.nest.depth + 1, self.nest.budget)
            for reading in self.parse(place, load(), deeper):
                yield _placed(reading, place, inner)
        except Unreadable as error:
            yield FailedPart(error, part=place)


def _placed(reading: Reading, place: str, folder: str) -> Reading:
    part = f"{place}{INSIDE}{reading.part}" if reading.part else place
    if isinstance(reading, ParsedText):
        return replace(reading, part=part, folder="/".join(filter(None, (folder, reading.folder))))
    return replace(reading, part=part)
