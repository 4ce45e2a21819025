"""Directories and the instructions in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import Q

from knowledge.models import Instruction, InstructionDirectory, InstructionStatus
from knowledge.places import CONTAINER, MOST_COUNTED, ROW, Entry, Place, Step

_WAYS: Final = """
WITH RECURSIVE way AS (
  SELECT d.id AS leaf, d.id, d.parent_id, d.name, 0 AS up FROM knowledge_instructiondirectory d
   WHERE d.organization_id = %(organization)s AND d.id = ANY(%(ids)s)
  UNION ALL
  SELECT way.leaf, d.id, d.parent_id, d.name, way.up + 1 FROM knowledge_instructiondirectory d
    JOIN way ON d.id = way.parent_id AND d.organization_id = %(organization)s
   WHERE way.up < 100
) SELECT leaf, id, name FROM way ORDER BY leaf, up DESC
"""
_HELD: Final = """
WITH RECURSIVE below AS (
  SELECT d.id, d.id AS top FROM knowledge_instructiondirectory d
   WHERE d.organization_id = %(organization)s AND d.id = ANY(%(ids)s)
  UNION
  SELECT d.id, below.top FROM knowledge_instructiondirectory d
    JOIN below ON d.parent_id = below.id AND d.organization_id = %(organization)s
) SELECT below.top, count(*) FROM below JOIN knowledge_instruction x
      ON x.organization_id = %(organization)s AND x.directory_id = below.id AND x.deleted_at IS NULL
   GROUP BY below.top
"""
SHOWN: Final = ("id", "title", "directory_id", "deleted_at", "status")


class InstructionTree:
    """The instructions of one organization. Expects its context."""

    def __init__(self, organization_id: int) -> None:
        self.organization_id = organization_id

    def place(self, key: str) -> Place | None:
        """Return an opened directory of the organization."""
        if not key:
            return Place("", "")
        try:
            steps = self.ways([UUID(key)]).get(UUID(key))
        except ValueError:
            return None
        return Place(key, steps[-1].name, steps) if steps else None

    def ways(self, directory_ids: Iterable[UUID]) -> dict[UUID, tuple[Step, ...]]:
        """Return the directories down to each of these, itself last.

        Cost: one statement.
        """
        values: dict[str, Any] = {"organization": self.organization_id, "ids": list(directory_ids)}
        ways: dict[UUID, tuple[Step, ...]] = {}
        with connection.cursor() as cursor:
            cursor.execute(_WAYS, values)
            for leaf, directory_id, name in cursor.fetchall():
                ways[leaf] = (*ways.get(leaf, ()), Step(f"{CONTAINER}{directory_id}", name))
        return ways

    def containers(
        self, place: Place, bound: tuple[str, ...] | None, *, backward: bool, limit: int
    ) -> list[Entry]:
        """Return the directories in a place, by name."""
        rows = InstructionDirectory.objects.filter(
            organization_id=self.organization_id, parent_id=_id(place)
        )
        if bound is not None:
            rows = rows.filter(**{"name__lt" if backward else "name__gt": bound[1]})
        order = "-name" if backward else "name"
        return [directory_entry(row, place.steps) for row in rows.order_by(order)[:limit]]

    def rows(
        self, place: Place, bound: tuple[str, ...] | None, *, backward: bool, limit: int
    ) -> list[Entry]:
        """Return the instructions right in a directory, by title."""
        rows = self._filed(place).filter(_behind(bound, backward=backward))
        order = ("-title", "-id") if backward else ("title", "id")
        return [instruction_entry(row, place.steps) for row in rows.order_by(*order)[:limit]]

    def count_rows(self, place: Place) -> int:
        """Return how many instructions lie right in a directory, counted to one more than the most."""
        ordered = self._filed(place).order_by("title", "id")
        return int(ordered.values("pk")[: MOST_COUNTED + 1].count())

    def _filed(self, place: Place) -> Any:
        return Instruction.objects.filter(
            organization_id=self.organization_id, directory_id=_id(place), deleted_at=None
        ).only(*SHOWN)

    def fill(self, entries: Sequence[Entry]) -> None:
        """Say of directories how many instructions they hold."""
        directories = {UUID(entry.key[2:]): entry for entry in entries if entry.is_container}
        if not directories:
            return
        values: dict[str, Any] = {"organization": self.organization_id, "ids": list(directories)}
        with connection.cursor() as cursor:
            cursor.execute(_HELD, values)
            for directory_id, held in cursor.fetchall():
                directories[directory_id].holds = held


def directory_entry(row: InstructionDirectory, steps: tuple[Step, ...]) -> Entry:
    """Return the line of a directory."""
    return Entry(f"{CONTAINER}{row.pk}", row.name, ("c", row.name), steps)


def instruction_entry(row: Instruction, steps: tuple[Step, ...]) -> Entry:
    """Return the line of an instruction."""
    bound = ("r", row.title, str(row.pk))
    return Entry(f"{ROW}{row.pk}", row.title, bound, steps, instruction_state(row))


def instruction_state(row: Instruction) -> str:
    """Return why an instruction is not searched at all now, in a word that the page translates."""
    if row.deleted_at is not None:
        return "gone"
    return "" if row.status == InstructionStatus.PUBLISHED else "draft"


def _id(place: Place) -> UUID | None:
    return UUID(place.key) if place.key else None


def _behind(bound: tuple[str, ...] | None, *, backward: bool) -> Q:
    if bound is None:
        return Q()
    title, row_id = bound[1], UUID(bound[2])
    if backward:
        return Q(title__lte=title) & (Q(title__lt=title) | Q(id__lt=row_id))
    return Q(title__gte=title) & (Q(title__gt=title) | Q(id__gt=row_id))
