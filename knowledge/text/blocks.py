"""The blocks of a Markdown-like text: headings, list items, table rows, code and prose."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
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


HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]#+)?[ \t]*$")
UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
ITEM = re.compile(r"([ \t]*)(?:[-*+•‣◦▪·]|\(?\d{1,3}[.)]|\(?[A-Za-z][.)])[ \t]+\S")
FENCE = re.compile(r" {0,3}(```+|~~~+)")
ROW = re.compile(r"[ \t]*\|.*\S")
RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
INDENTED = re.compile(r"(?: {2,}|\t)\S")
LONGEST_HEADING = 200


@dataclass(slots=True)
class _Reading:
    blocks: list[Block] = field(default_factory=list)
    levels: list[tuple[int, str]] = field(default_factory=list)
    fence: str = ""
    blank: bool = False
    indent: int = 0
    header: str = ""

    @property
    def last(self) -> Kind | None:
        return self.blocks[-1].kind if self.blocks else None

    def begin(self, kind: Kind, start: int, end: int) -> None:
        section = tuple(name for _, name in self.levels)
        header = self.header if kind is Kind.ROW else ""
        self.blocks.append(Block(kind, start, end, section, header))

    def extend(self, end: int) -> None:
        self.blocks[-1] = replace(self.blocks[-1], end=end)

    def enter(self, level: int, name: str) -> None:
        self.levels = [(at, above) for at, above in self.levels if at < level]
        if name:
            self.levels.append((level, name[:LONGEST_HEADING]))


def blocks(body: str) -> list[Block]:
    """Return the blocks of a text; together they hold its every character.

    Shape: blank lines belong to the block before them. A list item holds the items nested in it.
    """
    reading = _Reading()
    start = 0
    for line in _lines(body):
        end = start + len(line)
        _read(reading, body, line.rstrip("\n"), start, end)
        start = end
    return _with_the_lead(reading.blocks)


def _lines(body: str) -> Iterator[str]:
    yield from re.findall(r"[^\n]*\n|[^\n]+", body)


def _with_the_lead(found: list[Block]) -> list[Block]:
    return [replace(found[0], start=0), *found[1:]] if found else []


def _read(reading: _Reading, body: str, line: str, start: int, end: int) -> None:
    if reading.fence or not line.strip():
        _continue(reading, line, end)
        return
    heading = HEADING.match(line)
    if heading:
        reading.enter(len(heading[1]), (heading[2] or "").strip())
        reading.begin(Kind.HEADING, start, end)
    elif not _underlines(reading, body, line, end):
        _read_text(reading, line, start, end)
    reading.blank = False


def _continue(reading: _Reading, line: str, end: int) -> None:
    if reading.blocks:
        reading.extend(end)
    if reading.fence and line.strip().startswith(reading.fence):
        reading.fence = ""
        reading.blank = True
    elif not reading.fence:
        reading.blank = True


def _underlines(reading: _Reading, body: str, line: str, end: int) -> bool:
    rule = UNDERLINE.match(line)
    if not rule or reading.blank or reading.last is not Kind.PROSE:
        return False
    above = reading.blocks[-1]
    name = body[above.start : above.end].strip()
    if "\n" in name or len(name) > LONGEST_HEADING:
        return False
    reading.blocks.pop()
    reading.enter(1 if rule[1][0] == "=" else 2, name)
    reading.begin(Kind.HEADING, above.start, end)
    return True


def _read_text(reading: _Reading, line: str, start: int, end: int) -> None:
    fence, item = FENCE.match(line), ITEM.match(line)
    if fence:
        reading.fence = fence[1]
        reading.begin(Kind.CODE, start, end)
    elif ROW.match(line):
        _read_row(reading, line, start, end)
    elif item:
        _read_item(reading, len(item[1].expandtabs(4)), start, end)
    elif _goes_on(reading, line):
        reading.extend(end)
    else:
        reading.begin(Kind.PROSE, start, end)


def _goes_on(reading: _Reading, line: str) -> bool:
    if reading.last is Kind.ITEM:
        return not reading.blank or INDENTED.match(line) is not None
    return reading.last is Kind.PROSE and not reading.blank


def _read_item(reading: _Reading, indent: int, start: int, end: int) -> None:
    if reading.last is Kind.ITEM and indent >= reading.indent + 2:
        reading.extend(end)
        return
    reading.indent = indent
    reading.begin(Kind.ITEM, start, end)


def _read_row(reading: _Reading, line: str, start: int, end: int) -> None:
    if reading.last is not Kind.ROW or reading.blank:
        reading.header = ""
        reading.begin(Kind.ROW, start, end)
        reading.header = line.strip()
    elif RULE.match(line):
        reading.extend(end)
    else:
        reading.begin(Kind.ROW, start, end)
