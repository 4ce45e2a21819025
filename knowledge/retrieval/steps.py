"""The parts of a work instruction - steps and headed sections - and which of them is needed now; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from knowledge.retrieval.types import Focus
from knowledge.text.normalising import normalise
from knowledge.text.tokens import tokenise
from knowledge.text.values import Tells, tells_of

_STEP = r"(?:step|paso|schritt|[ée]tape|passo|шаг|चरण|कदम|(?:ال)?خطو(?:ه|ة)|步骤|第)\s*(?P<named>\d{1,2})\s*(?:步)?"
_BEGINS = regex.compile(
    rf"^\s{{0,3}}(?:#{{1,6}}\s*|[*_]{{1,2}})?(?:{_STEP}\b|(?P<listed>\d{{1,2}})[.)]\s)",
    regex.IGNORECASE,
)
_HEADING = regex.compile(r"^\s{0,3}#{1,6}\s+\S")


@dataclass(frozen=True)
class Step:
    """A part of an instruction: a numbered step, or a section without a number."""

    start: int
    end: int
    number: int | None

    def text(self, body: str) -> str:
        """Return its part of the body."""
        return body[self.start : self.end]


@dataclass(frozen=True)
class Needed:
    """The part that is needed now, and the one that belongs to it: most often the one before."""

    part: Step
    prerequisite: Step | None


def steps(body: str) -> list[Step]:
    """Return the parts of an instruction; together they hold its every character."""
    borders: list[tuple[int, int | None]] = [(0, None)]
    position = 0
    for line in body.splitlines(keepends=True):
        begins = _BEGINS.match(normalise_digits(line))
        if begins:
            borders.append((position, int(begins["named"] or begins["listed"])))
        elif _HEADING.match(line):
            borders.append((position, None))
        position += len(line)
    ends = [start for start, _ in borders[1:]] + [len(body)]
    parts = [Step(s, e, n) for (s, n), e in zip(borders, ends, strict=True)]
    return [part for part in parts if part.text(body).strip()]


def normalise_digits(line: str) -> str:
    """Return a line with the digits of every script as ASCII; the length may differ."""
    head = line[:60]
    return normalise(head).rstrip() + " " if head.strip() else head


def first_line(body: str, part: Step) -> str:
    """Return the line that says what a part is about; a part without number and heading has none."""
    line = part.text(body).lstrip().partition("\n")[0].strip()
    return line if part.number is not None or _HEADING.match(line) else ""


def needed(body: str, focus: Focus, *, near: tuple[int, int]) -> Needed | None:
    """Return the part that matches the branch the caller is in, with what has to come first.

    Step 1 may bring step 2; a later step brings the one before it.
    """
    parts = steps(body)
    if not parts:
        return None
    best = max(range(len(parts)), key=lambda i: (_fit(body, parts[i], focus, near), -i))
    return Needed(parts[best], _prerequisite(parts, best))


def _prerequisite(parts: Sequence[Step], best: int) -> Step | None:
    number = parts[best].number
    if number is None:
        return None
    wanted = 2 if number == 1 else number - 1
    candidates = [i for i, part in enumerate(parts) if part.number == wanted]
    # Numbering may begin again in the next section; the nearest one belongs to this step.
    nearest = min(candidates, key=lambda i: (abs(i - best), i), default=None)
    return None if nearest is None else parts[nearest]


def _fit(body: str, part: Step, focus: Focus, near: tuple[int, int]) -> float:
    text = part.text(body)
    words = set(tokenise(text))
    share = len(focus.words & words) / len(focus.words) if focus.words else 0.0
    overlap = max(0, min(part.end, near[1]) - max(part.start, near[0]))
    closeness = 0.25 * overlap / max(1, part.end - part.start)
    return share + closeness + _count_fit(text, focus.digits)


def _count_fit(text: str, digits: int | None) -> float:
    """A branch for exactly this many digits stands before every other; its opposite behind."""
    if digits is None:
        return 0.0
    told = tells_of(text, digits)
    return {None: 0.0, Tells.EXACTLY: 1.0, Tells.OTHERWISE: -1.0}[told]
