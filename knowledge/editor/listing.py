"""What lies in a directory, fifty lines at a time: directories by name, then instructions by title.

A page is found by the line that stood before or after it, so the last page is as fast as the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from knowledge.finding import find
from knowledge.models import Category, Instruction, InstructionDirectory

PER_PAGE: Final = 50
_ENDS: Final = {"d": "name", "i": "title"}


@dataclass(frozen=True)
class Page:
    """Lines of a list, and where the pages beside it begin; empty where there is none."""

    directories: Sequence[InstructionDirectory]
    instructions: Sequence[Instruction]
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Bound:
    """The line next to a page: its kind, its name and its id."""

    kind: str
    name: str
    pk: UUID

    def __str__(self) -> str:
        return f"{self.kind}{self.pk}{self.name}"


def bound_in(text: str) -> Bound | None:
    """Return the line that an address names, or None."""
    try:
        return Bound(text[0], text[37:], UUID(text[1:37])) if text[:1] in _ENDS else None
    except ValueError:
        return None


def page_in(
    organization_id: int, directory_id: UUID | None, *, after: str = "", before: str = ""
) -> Page:
    """Return what lies right in a directory.

    Cost: two statements, wherever the page is.
    """
    own = {"organization_id": organization_id}
    directories = InstructionDirectory.objects.filter(parent_id=directory_id, **own)
    instructions = Instruction.objects.filter(
        directory_id=directory_id, deleted_at=None, **own
    ).defer("body")
    return _page(directories, instructions, bound_in(after), bound_in(before))


def page_found(organization_id: int, text: str, *, after: str = "", before: str = "") -> Page:
    """Return instructions that a text names: an id, words, or a part of the title.

    Cost: what finding costs, and one statement.
    """
    found = find(Category.INSTRUCTION, [organization_id], text).filter(deleted_at=None)
    rows = found.select_related("directory").defer("body")
    return _page(InstructionDirectory.objects.none(), rows, bound_in(after), bound_in(before))


def _page(
    directories: QuerySet[InstructionDirectory],
    instructions: QuerySet[Any],
    after: Bound | None,
    before: Bound | None,
) -> Page:
    kinds: dict[str, QuerySet[Any]] = {"d": directories, "i": instructions}
    backward = before is not None and after is None
    bound = before if backward else after
    order = ["i", "d"] if backward else ["d", "i"]
    wanted = order[order.index(bound.kind) :] if bound else order
    lines: list[tuple[str, Any]] = []
    for kind in wanted:
        edge = bound if bound and bound.kind == kind else None
        rows = _behind(kinds[kind], _ENDS[kind], edge, backward=backward)
        lines += [(kind, row) for row in rows[: PER_PAGE + 1 - len(lines)]]
    return _turned(lines, bound, backward=backward)


def _turned(lines: list[tuple[str, Any]], bound: Bound | None, *, backward: bool) -> Page:
    has_more, shown = len(lines) > PER_PAGE, lines[:PER_PAGE]
    shown = shown[::-1] if backward else shown
    first, last = (_bound_of(shown[0]), _bound_of(shown[-1])) if shown else ("", "")
    has_before = has_more if backward else bound is not None
    has_after = bound is not None if backward else has_more
    return Page(
        [row for kind, row in shown if kind == "d"],
        [row for kind, row in shown if kind == "i"],
        before=first if has_before else "",
        after=last if has_after else "",
    )


def _bound_of(line: tuple[str, Any]) -> str:
    kind, row = line
    return str(Bound(kind, getattr(row, _ENDS[kind]), row.pk))


def _behind(rows: QuerySet[Any], name: str, edge: Bound | None, *, backward: bool) -> QuerySet[Any]:
    ordered = rows.order_by(f"-{name}", "-id") if backward else rows.order_by(name, "id")
    if edge is None:
        return ordered
    than = "lt" if backward else "gt"
    further = Q(**{f"{name}__{than}": edge.name}) | Q(**{f"id__{than}": edge.pk})
    # The first condition alone lets the index find the page.
    return ordered.filter(Q(**{f"{name}__{than}e": edge.name}) & further)
