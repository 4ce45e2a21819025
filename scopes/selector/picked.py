"""What is stored of a selection, seen from the lines of a tree; each question is one statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, cast
from uuid import UUID

from django.db import connection

from knowledge.models import Category
from knowledge.places import CONTAINER, ROW, Entry, Place, Step, Tree
from knowledge.tree import KnowledgeTree
from scopes.models import DirectoryPick, FolderPick, InstructionPick, ItemPick, Pick
from scopes.selector.instruction_tree import InstructionTree
from tenants.models import PhoneAgent

_INSIDE_FOLDERS: Final = """
SELECT s.child, count(*) FROM (
  SELECT p.folder_key AS at,
         %(base)s || split_part(substr(p.folder_key, length(%(base)s) + 1), '/', 1) AS child, true AS is_folder
    FROM scopes_folderpick p
   WHERE p.organization_id = %(organization)s AND p.agent_id = %(agent)s
     AND p.folder_key >= %(low)s AND p.folder_key < %(high)s
  UNION ALL
  SELECT x.folder_key,
         %(base)s || split_part(substr(x.folder_key, length(%(base)s) + 1), '/', 1), false
    FROM scopes_itempick p JOIN knowledge_item x
      ON x.organization_id = p.organization_id AND x.id = p.item_id AND x.deleted_at IS NULL
   WHERE p.organization_id = %(organization)s AND p.agent_id = %(agent)s
     AND x.folder_key >= %(low)s AND x.folder_key < %(high)s
) s WHERE NOT (s.is_folder AND s.at = s.child) GROUP BY s.child
"""
_INSIDE_DIRECTORIES: Final = """
WITH RECURSIVE below AS (
  SELECT d.id, d.id AS top FROM knowledge_instructiondirectory d
   WHERE d.organization_id = %(organization)s AND d.id = ANY(%(ids)s)
  UNION
  SELECT d.id, below.top FROM knowledge_instructiondirectory d
    JOIN below ON d.parent_id = below.id AND d.organization_id = %(organization)s
), picked AS (
  SELECT p.directory_id AS place, true AS is_directory FROM scopes_directorypick p
   WHERE p.organization_id = %(organization)s AND p.agent_id = %(agent)s
  UNION ALL
  SELECT x.directory_id, false FROM scopes_instructionpick p JOIN knowledge_instruction x
      ON x.organization_id = p.organization_id AND x.id = p.instruction_id AND x.deleted_at IS NULL
   WHERE p.organization_id = %(organization)s AND p.agent_id = %(agent)s
) SELECT below.top, count(*) FROM below JOIN picked ON picked.place = below.id
   WHERE NOT (picked.is_directory AND picked.place = below.top) GROUP BY below.top
"""
_HIGHEST: Final = chr(0x10FFFF)
_PICKS: Final[dict[str, tuple[type[Pick], str, type[Pick], str]]] = {
    Category.INSTRUCTION: (InstructionPick, "instruction_id", DirectoryPick, "directory_id"),
    Category.KNOWLEDGE: (ItemPick, "item_id", FolderPick, "folder_key"),
}


def tree_of(category: str, organization_id: int) -> Tree:
    """Return the tree of a category."""
    if category == Category.KNOWLEDGE:
        return KnowledgeTree(organization_id)
    return InstructionTree(organization_id)


class Picked:
    """The stored picks of one category of one agent. Expects its organization's context."""

    def __init__(self, agent: PhoneAgent, category: str) -> None:
        self.agent = agent
        self.category = category
        self._where = {"organization_id": agent.organization_id, "agent_id": agent.pk}

    def count(self) -> int:
        """Return how many there are."""
        rows, _, containers, _ = _PICKS[self.category]
        return sum(
            model._default_manager.filter(**self._where).count() for model in (rows, containers)
        )

    def among(self, keys: Iterable[str]) -> set[str]:
        """Return the keys that are stored."""
        rows, row, containers, container = _PICKS[self.category]
        wanted = set(keys)
        found = set[str]()
        for prefix, model, column in ((ROW, rows, row), (CONTAINER, containers, container)):
            values = [key[2:] for key in wanted if key.startswith(prefix)]
            if values:
                stored = model._default_manager.filter(**self._where, **{f"{column}__in": values})
                found |= {f"{prefix}{one}" for one in stored.values_list(column, flat=True)}
        return found

    def mark(self, entries: Sequence[Entry], place: Place | None) -> tuple[Step, ...]:
        """Say of lines what is stored about them; return the steps of the place likewise."""
        steps = place.steps if place is not None else ()
        around = {step.key for entry in entries for step in (*entry.steps, *steps)}
        stored = self.among({entry.key for entry in entries} | around)
        for entry in entries:
            entry.saved = entry.key in stored
            entry.steps = _marked(entry.steps, stored)
        self._count_inside(entries, place)
        return _marked(steps, stored)

    def _count_inside(self, entries: Sequence[Entry], place: Place | None) -> None:
        folders = [entry for entry in entries if entry.is_container]
        if not folders:
            return
        inside = (
            self._inside_folders(folders, place)
            if self.category == Category.KNOWLEDGE
            else self._inside_directories(folders)
        )
        for entry in folders:
            entry.inside = inside.get(entry.key[2:], 0)

    def _inside_folders(self, folders: Sequence[Entry], place: Place | None) -> dict[str, int]:
        if place is None:
            # Found by name, each lies elsewhere.
            return {key: n for one in folders for key, n in self._inside_one(one.key[2:]).items()}
        base = f"{place.key}/" if place.key else ""
        high = f"{place.key}0" if place.key else _HIGHEST
        return self._inside(_INSIDE_FOLDERS, {"base": base, "low": base, "high": high})

    def _inside_one(self, key: str) -> dict[str, int]:
        above, separator, _ = key.rpartition("/")
        values = {"base": above + separator, "low": key, "high": f"{key}0"}
        return {k: n for k, n in self._inside(_INSIDE_FOLDERS, values).items() if k == key}

    def _inside_directories(self, folders: Sequence[Entry]) -> dict[str, int]:
        return self._inside(_INSIDE_DIRECTORIES, {"ids": [UUID(one.key[2:]) for one in folders]})

    def _inside(self, statement: str, values: dict[str, Any]) -> dict[str, int]:
        scope = {"organization": self.agent.organization_id, "agent": self.agent.pk}
        with connection.cursor() as cursor:
            cursor.execute(statement, values | scope)
            return {str(key): cast(int, count) for key, count in cursor.fetchall()}


def _marked(steps: tuple[Step, ...], stored: set[str]) -> tuple[Step, ...]:
    return tuple(replace(step, saved=step.key in stored) for step in steps)
