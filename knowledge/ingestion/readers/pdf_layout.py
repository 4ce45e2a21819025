"""From lines on pages to Markdown: what repeats on every page goes, sizes make headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

BULLET: Final = re.compile(r"^[•◦▪‣●○■–—*·-]\s+")
ITEM: Final = re.compile(r"^(- |(\d{1,3}|[a-z])[.)]\s)")
COUNTED: Final = re.compile(r"^(\d{1,3})[.)]?\s+")
DIGITS: Final = re.compile(r"\d+")
LARGER: Final = 1.15
LONGEST_HEADING: Final = 150
DEEPEST: Final = 4
# A running head or foot stands near an edge of most pages.
EDGE: Final = 0.1
FEWEST_PAGES: Final = 4
MOST_OF: Final = 0.6


@dataclass(frozen=True)
class Line:
    """A line of text; units are points from the top left corner of its page."""

    text: str
    size: float
    is_bold: bool
    block: int
    top: float
    bottom: float
    middle: float
    height: float


@dataclass(frozen=True)
class Table:
    """A table, as Markdown."""

    markdown: str


Page = Sequence[Line | Table]


def written(pages: Sequence[Page]) -> str:
    """Return the pages as one text."""
    lines = [each for page in pages for each in page if isinstance(each, Line)]
    levels = _heading_sizes(lines)
    repeated = _repeated(pages)
    parts: list[str] = []
    for page in pages:
        kept = [each for each in page if isinstance(each, Table) or not _is_running(each, repeated)]
        parts.extend(_blocks(kept, levels))
    return _joined_across_pages(parts)


def _heading_sizes(lines: Iterable[Line]) -> list[float]:
    amounts: Counter[float] = Counter()
    for line in lines:
        amounts[line.size] += len(line.text)
    if not amounts:
        return []
    usual = amounts.most_common(1)[0][0]
    return sorted((size for size in amounts if size >= usual * LARGER), reverse=True)


def _key(line: Line) -> str:
    return DIGITS.sub("#", line.text)


def _is_at_edge(line: Line) -> bool:
    return line.bottom < EDGE * line.height or line.top > (1 - EDGE) * line.height


def _repeated(pages: Sequence[Page]) -> frozenset[str]:
    if len(pages) < FEWEST_PAGES:
        return frozenset()
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({_key(each) for each in page if isinstance(each, Line) and _is_at_edge(each)})
    return frozenset(key for key, count in counts.items() if count >= MOST_OF * len(pages))


def _is_running(line: Line, repeated: frozenset[str]) -> bool:
    return _is_at_edge(line) and _key(line) in repeated


def _blocks(page: Page, levels: Sequence[float]) -> Iterator[str]:
    paragraph: list[Line] = []
    for each in page:
        if paragraph and (isinstance(each, Table) or _starts_anew(paragraph[-1], each, levels)):
            yield _paragraph(paragraph, levels)
            paragraph = []
        if isinstance(each, Table):
            yield each.markdown
        else:
            paragraph.append(each)
    if paragraph:
        yield _paragraph(paragraph, levels)


def _starts_anew(before: Line, line: Line, levels: Sequence[float]) -> bool:
    return before.block != line.block or _level(before, levels) != _level(line, levels)


def _level(line: Line, levels: Sequence[float]) -> int:
    is_foot = line.top > (1 - EDGE) * line.height
    if len(line.text) > LONGEST_HEADING or line.size not in levels or is_foot:
        return 0
    return min(levels.index(line.size) + 1, DEEPEST)


def _paragraph(lines: Sequence[Line], levels: Sequence[float]) -> str:
    level = _level(lines[0], levels)
    if level:
        return f"{'#' * level} {' '.join(line.text for line in lines)}"
    if len(lines) == 1 and lines[0].is_bold and len(lines[0].text) <= LONGEST_HEADING:
        return f"{'#' * (min(len(levels), DEEPEST) + 1)} {lines[0].text}"
    text = ""
    for line in _with_items(lines):
        text = _continued(text, line) if text else line
    return text


def _with_items(lines: Sequence[Line]) -> Iterator[str]:
    """Yield lines with their bullets as Markdown; bare numbers that count up are a list as well."""
    counted = 0
    for line in lines:
        number = COUNTED.match(line.text)
        if number and int(number[1]) == counted + 1 and _counts_up(lines):
            counted += 1
            yield f"{counted}. {line.text[number.end() :]}"
        else:
            yield BULLET.sub("- ", line.text)


def _counts_up(lines: Sequence[Line]) -> bool:
    numbers = [int(match[1]) for line in lines if (match := COUNTED.match(line.text))]
    return len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1))


def _continued(text: str, line: str) -> str:
    if ITEM.match(line):
        return f"{text}\n{line}"
    # A word cut at the end of a line; what follows in lower case is its rest.
    if text.endswith("-") and text[-2:-1].isalpha() and line[:1].islower():
        return text[:-1] + line
    return f"{text} {line}"


def _joined_across_pages(parts: Iterable[str]) -> str:
    text = last = ""
    for part in parts:
        if text and _goes_on(last, part):
            text = f"{text} {part}"
        elif text:
            text += ("\n" if ITEM.match(last) and ITEM.match(part) else "\n\n") + part
        else:
            text = part
        last = part
    return text


def _goes_on(text: str, rest: str) -> bool:
    """A sentence that breaks off at a box's end goes on in the next when that starts in lower case."""
    is_plain = not text.startswith(("#", "|", "- ")) and not rest.startswith(("#", "|", "- "))
    return (
        is_plain and text[-1] not in ".!?:;。！？؟" and rest[:1].islower() and not ITEM.match(rest)
    )
