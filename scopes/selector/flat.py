"""Flat lists with paths: what a search finds by name, and what is selected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from knowledge import tree as knowledge_tree
from knowledge.finding import MOST_FOUND, find
from knowledge.models import Category, Instruction, InstructionDirectory, Item
from knowledge.places import CONTAINER, PER_PAGE, ROW, Entry, Step, Tree
from knowledge.tree import KnowledgeTree, item_entry
from scopes.selecting import explicit_picks
from scopes.selector import instruction_tree
from scopes.selector.deltas import Delta, keys_of
from scopes.selector.instruction_tree import InstructionTree, instruction_entry
from scopes.selector.picked import Picked

SHORTEST: Final = 2


@dataclass(frozen=True)
class Flat:
    """Entries of a flat list, at most fifty, and how many there are in all."""

    entries: list[Entry]
    total: int
    has_more: bool = False
    offset: int = 0


def found(tree: Tree, category: str, text: str) -> Flat:
    """Return folders and rows that a text names, over the whole corpus.

    Cost: a probe for each folder of the organization, and the search of `knowledge.finding`.
    """
    containers = _containers_named(tree, text)
    rows = _rows_named(tree, category, text)
    entries = [*containers, *rows][:PER_PAGE]
    total = len(containers) + len(rows)
    return Flat(_with_steps(tree, entries), total, has_more=len(rows) >= MOST_FOUND)


def _containers_named(tree: Tree, text: str) -> list[Entry]:
    if isinstance(tree, KnowledgeTree):
        return [_folder(tree, key) for key in tree.folders_named(text)]
    rows = InstructionDirectory.objects.filter(
        organization_id=_organization(tree), name__icontains=text
    )
    return [instruction_tree.directory_entry(row, ()) for row in rows.order_by("name", "id")]


def _folder(tree: KnowledgeTree, key: str) -> Entry:
    return tree.folder_entry(key, key, ())


def _rows_named(tree: Tree, category: str, text: str) -> list[Entry]:
    rows = find(category, [_organization(tree)], text).filter(deleted_at=None)
    return _row_entries(category, rows.order_by("title", "id"))


def _row_entries(category: str, rows: Any) -> list[Entry]:
    """Return entries whose one step is the container they lie in, to be completed."""
    if category == Category.KNOWLEDGE:
        items: Iterable[Item] = rows.only(*knowledge_tree.SHOWN)
        return [item_entry(row, (Step(CONTAINER + row.folder_key, ""),)) for row in items]
    instructions: Iterable[Instruction] = rows.only(*instruction_tree.SHOWN)
    return [
        instruction_entry(
            row, (Step(f"{CONTAINER}{row.directory_id}", ""),) if row.directory_id else ()
        )
        for row in instructions
    ]


def _with_steps(tree: Tree, entries: list[Entry]) -> list[Entry]:
    """Complete the containers around every entry.

    Cost: one statement.
    """
    if isinstance(tree, KnowledgeTree):
        for entry in entries:
            key = entry.key[2:] if entry.is_container else entry.steps[0].key[2:]
            steps = tree.steps_to(key)
            entry.steps = steps[:-1] if entry.is_container else steps
        return entries
    ids = {entry.key: _directory_of(entry) for entry in entries}
    ways = InstructionTree(_organization(tree)).ways({one for one in ids.values() if one})
    for entry in entries:
        directory = ids[entry.key]
        way = ways.get(directory, ()) if directory else ()
        entry.steps = way[:-1] if entry.is_container else way
    return entries


def _directory_of(entry: Entry) -> UUID | None:
    if entry.is_container:
        return UUID(entry.key[2:])
    return UUID(entry.steps[0].key[2:]) if entry.steps else None


def _organization(tree: Any) -> int:
    return int(tree.organization_id)


def reviewed(tree: Tree, picked: Picked, delta: Delta, offset: int) -> Flat:
    """Return what is selected or was, fifty at a time: folders by path, then rows by title.

    Cost: reads the ids of every pick; the rest is for fifty.
    """
    stored = keys_of(explicit_picks(picked.agent, picked.category))
    return named(tree, picked.category, stored | delta.add, offset)


def named(tree: Tree, category: str, keys: Collection[str], offset: int) -> Flat:
    """Return what keys name, fifty at a time: folders by path, then rows by title."""
    containers = _containers_of(tree, keys)
    page = containers[offset : offset + PER_PAGE]
    rows_from = max(0, offset - len(containers))
    row_ids = [key[2:] for key in keys if key.startswith(ROW)]
    rows = _rows_of(tree, category, row_ids, rows_from, PER_PAGE - len(page))
    return Flat(_with_steps(tree, [*page, *rows]), len(containers) + len(row_ids), offset=offset)


def _containers_of(tree: Tree, keys: Iterable[str]) -> list[Entry]:
    values = [key[2:] for key in keys if key.startswith(CONTAINER)]
    if isinstance(tree, KnowledgeTree):
        return [_folder(tree, key) for key in sorted(values)]
    rows = InstructionDirectory.every.filter(
        organization_id=_organization(tree), pk__in=_uuids(values)
    )
    return [instruction_tree.directory_entry(row, ()) for row in rows.order_by("name", "id")]


def _rows_of(tree: Tree, category: str, ids: Sequence[str], offset: int, limit: int) -> list[Entry]:
    model = Item if category == Category.KNOWLEDGE else Instruction
    rows: Any = model._default_manager.filter(
        organization_id=_organization(tree), pk__in=_uuids(ids)
    )
    return _row_entries(category, rows.order_by("title", "id")[offset : offset + max(0, limit)])


def _uuids(values: Iterable[str]) -> list[UUID]:
    good = []
    for value in values:
        try:
            good.append(UUID(value))
        except ValueError:
            continue
    return good


def emptied(entries: Sequence[Entry]) -> list[Entry]:
    """Say of selected folders that hold nothing that nothing is in them now."""
    return [
        replace(entry, state="empty") if entry.is_container and not entry.holds else entry
        for entry in entries
    ]
