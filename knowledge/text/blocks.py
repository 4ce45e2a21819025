"""The blocks of a Markdown-like text: headings, list items, table rows, code and prose."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field, replace


class Kind(enum.Enum):
    """What a block is."""

    HEADING = "heading"
    ITEM = "item"
    ROW = "row"
    CODE = "code"
    PROSE = "prose"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the text with the headings above it; blocks follow each other without a gap."""

    kind: Kind
    start: int
    end: int
    section: tuple[str, ...] = ()
    header: str = ""


HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
ITEM = re.compile(r"([ \t]*)(?:[-*+•‣◦▪·]|\(?\d{1,3}[.)]|\(?[A-Za-z][.)])[ \t]+\S")
FENCE = re.compile(r" {0,3}(```+|~~~+)")
INDENTED = re.compile(r"(?: {2,}|\t)")
RULE_SIGNS = frozenset("|:-+ \t")
LONGEST_HEADING = 200


@dataclass(slots=True)
class _Reading:
    body: str
    blocks: list[Block] = field(default_factory=list)
    levels: list[tuple[int, str]] = field(default_factory=list)
    fence: str = ""
    blank: bool = False
    indent: int = 0
    header: str = ""

    @property
    def last(self) -> Kind | None:
        return self.blocks[-1].kind if self.blocks else None

    def begin(self, kind: Kind, start: int) -> None:
        section = tuple(name for _, name in self.levels)
        header = self.header if kind is Kind.ROW else ""
        self.blocks.append(Block(kind, start, start, section, header))

    def enter(self, level: int, name: str) -> None:
        self.levels = [(at, above) for at, above in self.levels if at < level]
        if name:
            self.levels.append((level, name[:LONGEST_HEADING]))


def blocks(body: str) -> list[Block]:
    """Return the blocks of a text; together they hold its every character.

    Shape: blank lines belong to the block before them. A list item holds the items nested in it.
    """
    reading = _Reading(body)
    start = 0
    for line in body.split("\n"):
        _read(reading, line, start)
        start += len(line) + 1
    return _closed(reading.blocks, len(body))


def _closed(found: list[Block], end: int) -> list[Block]:
    starts = [0, *(block.start for block in found[1:]), end]
    return [
        replace(block, start=starts[place], end=starts[place + 1])
        for place, block in enumerate(found)
    ]


def _read(reading: _Reading, line: str, start: int) -> None:
    if reading.fence:
        if line.strip().startswith(reading.fence):
            reading.fence, reading.blank = "", True
    elif not line or line.isspace():
        reading.blank = True
    else:
        _read_words(reading, line, start)
        reading.blank = False


def _read_words(reading: _Reading, line: str, start: int) -> None:
    heading = HEADING.match(line)
    if heading:
        name = line[heading.end() :].strip()
        reading.enter(len(heading[1]), name.rstrip("#").rstrip() or name)
        reading.begin(Kind.HEADING, start)
    elif not _underlines(reading, line, start):
        _read_text(reading, line, start)


def _underlines(reading: _Reading, line: str, start: int) -> bool:
    if reading.blank or reading.last is not Kind.PROSE:
        return False
    rule, above = UNDERLINE.match(line), reading.blocks[-1]
    name = reading.body[above.start : min(start, above.start + LONGEST_HEADING)].strip()
    if not rule or "\n" in name or start > above.start + LONGEST_HEADING:
        return False
    reading.blocks.pop()
    reading.enter(1 if rule[1][0] == "=" else 2, name)
    reading.begin(Kind.HEADING, above.start)
    return True


def _read_text(reading: _Reading, line: str, start: int) -> None:
    fence, item = FENCE.match(line), ITEM.match(line)
    if fence:
        reading.fence = fence[1]
        reading.begin(Kind.CODE, start)
    elif line.lstrip()[:1] == "|":
        _read_row(reading, line, start)
    elif item:
        _read_item(reading, len(item[1].expandtabs(4)), start)
    elif not _goes_on(reading, line):
        reading.begin(Kind.PROSE, start)


def _goes_on(reading: _Reading, line: str) -> bool:
    if reading.last is Kind.ITEM:
        return not reading.blank or INDENTED.match(line) is not None
    return reading.last is Kind.PROSE and not reading.blank


def _read_item(reading: _Reading, indent: int, start: int) -> None:
    if reading.last is not Kind.ITEM or indent < reading.indent + 2:
        reading.indent = indent
        reading.begin(Kind.ITEM, start)


def _read_row(reading: _Reading, line: str, start: int) -> None:
    if reading.last is not Kind.ROW or reading.blank:
        reading.header = ""
        reading.begin(Kind.ROW, start)
        reading.header = line.strip()
    elif not RULE_SIGNS.issuperset(line):
        reading.begin(Kind.ROW, start)
