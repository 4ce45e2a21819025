"""The verbs that change what an agent may search; each one transaction, audited inside."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import F

from knowledge.errors import FolderRefused
from knowledge.folders import segments, source_slug
from knowledge.models import Category, Instruction, InstructionDirectory, Item, Source
from scopes.errors import PickRefused, ScopeChangedMeanwhile
from scopes.models import (
    AgentScope,
    DirectoryPick,
    FolderPick,
    InstructionPick,
    ItemPick,
    Mode,
    Pick,
)
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.locking import lock_organization
from tenants.models import PhoneAgent

# How the audit trail calls it.
SELECT: Final = "scope.select"


@dataclass(frozen=True)
class Picks:
    """Explicit picks of one category: rows by id, and containers by id or folder key."""

    rows: frozenset[UUID] = frozenset()
    containers: frozenset[Any] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.rows or self.containers)


@dataclass(frozen=True)
class _Tables:
    row_pick: type[Pick]
    row_column: str
    row_model: type[Instruction | Item]
    container_pick: type[Pick]
    container_column: str


_TABLES = {
    Category.INSTRUCTION: _Tables(
        InstructionPick, "instruction_id", Instruction, DirectoryPick, "directory_id"
    ),
    Category.KNOWLEDGE: _Tables(ItemPick, "item_id", Item, FolderPick, "folder_key"),
}


_INSERT: dict[type[Pick], str] = {
    InstructionPick: (
        "INSERT INTO scopes_instructionpick (id, organization_id, agent_id, instruction_id)"
        " SELECT gen_random_uuid(), %s, %s, target FROM unnest(%s::uuid[]) AS target"
    ),
    DirectoryPick: (
        "INSERT INTO scopes_directorypick (id, organization_id, agent_id, directory_id)"
        " SELECT gen_random_uuid(), %s, %s, target FROM unnest(%s::uuid[]) AS target"
    ),
    ItemPick: (
        "INSERT INTO scopes_itempick (id, organization_id, agent_id, item_id)"
        " SELECT gen_random_uuid(), %s, %s, target FROM unnest(%s::uuid[]) AS target"
    ),
    FolderPick: (
        "INSERT INTO scopes_folderpick (id, organization_id, agent_id, folder_key)"
        " SELECT gen_random_uuid(), %s, %s, target FROM unnest(%s::text[]) AS target"
    ),
}


def create_scopes(agent: PhoneAgent) -> None:
    """Make the two stored modes of a new agent; without them nothing is searchable."""
    for category in Category.values:
        AgentScope.objects.get_or_create(
            organization_id=agent.organization_id, agent=agent, category=category
        )


def explicit_picks(agent: PhoneAgent, category: str) -> Picks:
    """Return what was picked, apart from what it covers.

    Cost: two statements.
    """
    tables = _TABLES[Category(category)]
    where = {"organization_id": agent.organization_id, "agent_id": agent.pk}
    rows = tables.row_pick._default_manager.filter(**where)
    containers = tables.container_pick._default_manager.filter(**where)
    return Picks(
        frozenset(rows.values_list(tables.row_column, flat=True)),
        frozenset(containers.values_list(tables.container_column, flat=True)),
    )


def explicit_selection(agent: PhoneAgent) -> dict[str, dict[str, Any]]:
    """Return mode and explicit picks of both categories, as bootstrap and snapshot show them."""
    modes = dict(
        AgentScope.objects.filter(organization_id=agent.organization_id, agent=agent).values_list(
            "category", "mode"
        )
    )
    instructions = explicit_picks(agent, Category.INSTRUCTION)
    knowledge = explicit_picks(agent, Category.KNOWLEDGE)
    return {
        "instructions": {
            "mode": _effective(modes.get(Category.INSTRUCTION), instructions),
            "instructions": sorted(map(str, instructions.rows)),
            "directories": sorted(map(str, instructions.containers)),
        },
        "knowledge": {
            "mode": _effective(modes.get(Category.KNOWLEDGE), knowledge),
            "items": sorted(map(str, knowledge.rows)),
            "folders": sorted(knowledge.containers),
        },
    }


def _effective(stored: str | None, picks: Picks) -> str:
    return Mode.ALL if stored == Mode.ALL and not picks else Mode.SELECTED


def select(
    agent: PhoneAgent,
    category: str,
    picks: Picks,
    *,
    version: int,
    by: Actor,
    at: datetime,
) -> int:
    """Make these the picks of a category and return the scope's new version.

    At least one pick restricts; none, deliberately saved, opens the category again.
    Raises: ScopeChangedMeanwhile, PickRefused
    """
    with organization_context(agent.organization_id, durable=True):
        # A folder that gets another key, a directory that is deleted: each meets this selection, or
        # this selection meets it.
        lock_organization(agent.organization_id)
        before = explicit_picks(agent, category)
        _claim_version(agent, category, version, by=by, at=at, mode=_mode(picks))
        _refuse_unknown(agent, category, picks, before)
        _replace(agent, Category(category), before, picks)
        change = Change(
            SELECT,
            "agent",
            str(agent.pk),
            told_of(category, before),
            told_of(category, picks),
        )
        note(agent.organization_id, change, by=by, at=at)
    return version + 1


def clear(agent: PhoneAgent, category: str, *, version: int, by: Actor, at: datetime) -> int:
    """Open a category again: the one deliberate act that widens it."""
    return select(agent, category, Picks(), version=version, by=by, at=at)


def _mode(picks: Picks) -> str:
    return Mode.SELECTED if picks else Mode.ALL


def _claim_version(
    agent: PhoneAgent, category: str, version: int, *, by: Actor, at: datetime, mode: str
) -> None:
    claimed = AgentScope.objects.filter(
        organization_id=agent.organization_id, agent=agent, category=category, version=version
    ).update(version=F("version") + 1, mode=mode, changed_at=at, changed_by=by.user_id)
    if not claimed:
        raise ScopeChangedMeanwhile


def _refuse_unknown(agent: PhoneAgent, category: str, picks: Picks, before: Picks) -> None:
    """Refuse new picks of what is not there, by name; what was picked before may stay."""
    tables = _TABLES[Category(category)]
    new_rows = picks.rows - before.rows
    known = tables.row_model._default_manager.filter(
        organization_id=agent.organization_id, pk__in=new_rows, deleted_at=None
    ).values_list("pk", flat=True)
    unknown = {str(row) for row in new_rows - set(known)}
    new_containers = picks.containers - before.containers
    unknown |= _unknown_containers(agent.organization_id, category, new_containers)
    if unknown:
        raise PickRefused(refused=sorted(unknown))


def _unknown_containers(
    organization_id: int, category: str, containers: frozenset[Any]
) -> set[str]:
    if category == Category.INSTRUCTION:
        known = InstructionDirectory.objects.filter(
            organization_id=organization_id, pk__in=containers
        ).values_list("pk", flat=True)
        return {str(container) for container in containers - set(known)}
    sources = set(
        Source.objects.filter(organization_id=organization_id).values_list("slug", flat=True)
    )
    return {key for key in containers if not _is_canonical(key) or source_slug(key) not in sources}


def _is_canonical(key: str) -> bool:
    try:
        return "/".join(segments(key)) == key
    except FolderRefused:
        return False


def _replace(agent: PhoneAgent, category: Category, before: Picks, after: Picks) -> None:
    tables = _TABLES[category]
    for model, column, old, new in (
        (tables.row_pick, tables.row_column, before.rows, after.rows),
        (tables.container_pick, tables.container_column, before.containers, after.containers),
    ):
        manager = model._default_manager
        where = {"organization_id": agent.organization_id, "agent_id": agent.pk}
        manager.filter(**where, **{f"{column}__in": old - new}).delete()
        _insert(model, where, sorted(new - old))


def _insert(model: type[Pick], where: dict[str, Any], targets: list[Any]) -> None:
    """Insert picks in one statement: twenty thousand of them while somebody waits."""
    if targets:
        with connection.cursor() as cursor:
            cursor.execute(_INSERT[model], [where["organization_id"], where["agent_id"], targets])


def told_of(category: str, picks: Picks) -> dict[str, Any]:
    """Return a selection as the audit trail keeps it."""
    return {
        "category": str(category),
        "mode": str(_mode(picks)),
        "rows": sorted(map(str, picks.rows)),
        "containers": sorted(map(str, picks.containers)),
    }
