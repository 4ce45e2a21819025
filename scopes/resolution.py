"""Resolve who asks into what may be searched: the only maker of an Allowlist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from knowledge.retrieval.types import Allowlist, Caller, Everything, Scope, Selection
from scopes.models import AgentScope, DirectoryPick, FolderPick, InstructionPick, ItemPick, Mode
from scopes.selecting import Picks
from tenants.models import Contact, ContactSegment, PhoneAgent

NOTHING = Selection(ids=frozenset(), is_vacant=True)

# A directory covers its descendants as they are now; deleted targets keep the pick but cover nothing.
DIRECTORIES = """
WITH RECURSIVE picked AS (
  SELECT d.id FROM knowledge_instructiondirectory d
   WHERE d.organization_id = %s AND d.id = ANY(%s)
  UNION
  SELECT d.id FROM knowledge_instructiondirectory d
    JOIN picked ON d.parent_id = picked.id WHERE d.organization_id = %s
) SELECT id FROM picked
"""
LIVE_INSTRUCTION = """
SELECT EXISTS (SELECT 1 FROM knowledge_instruction
 WHERE organization_id = %s AND deleted_at IS NULL AND status = 'published'
   AND (id = ANY(%s) OR directory_id = ANY(%s)))
"""
LIVE_ITEM = """
SELECT EXISTS (SELECT 1 FROM knowledge_item x
  WHERE x.organization_id = %(organization)s AND x.deleted_at IS NULL AND x.id = ANY(%(ids)s))
 OR EXISTS (SELECT 1 FROM unnest(%(folders)s::text[]) AS f JOIN knowledge_item x
    ON x.organization_id = %(organization)s AND x.deleted_at IS NULL
   AND (x.folder_key = f COLLATE "C"
        OR (x.folder_key >= (f || '/') COLLATE "C" AND x.folder_key < (f || '0') COLLATE "C")))
"""


def allowlist_for(
    agent: PhoneAgent,
    *,
    contact: Contact | None,
    channel: str,
    country: str | None,
    at: datetime,
) -> Allowlist:
    """Return what this agent may say to this contact on this channel at this instant.

    Reads live rows inside the caller's transaction, so that scope and search share a snapshot.
    Cost: six short statements, constant in the number of picks.
    """
    stored = dict(
        AgentScope.objects.filter(
            organization_id=agent.organization_id, agent_id=agent.pk
        ).values_list("category", "mode")
    )
    return Allowlist(
        organization_id=agent.organization_id,
        agent_id=agent.pk,
        caller=Caller(channel, country or None, _segments(contact)),
        at=at,
        instructions=_instructions(agent, stored.get("instruction")),
        knowledge=_knowledge(agent, stored.get("knowledge")),
    )


def allowlist_if(
    agent: PhoneAgent,
    picks: Mapping[str, Picks],
    *,
    channel: str,
    country: str | None,
    at: datetime,
) -> Allowlist:
    """Return what this agent could say to an unknown caller if these were its picks; nothing is saved.

    A category that is left out stays as it is stored; no picks open it, as saving them would.
    """
    stored = allowlist_for(agent, contact=None, channel=channel, country=country, at=at)
    return replace(
        stored,
        instructions=_instructions_if(agent, picks.get("instruction"), stored.instructions),
        knowledge=_knowledge_if(agent, picks.get("knowledge"), stored.knowledge),
    )


def _instructions_if(agent: PhoneAgent, picks: Picks | None, stored: Scope) -> Scope:
    if picks is None:
        return stored
    return _selected_instructions(agent, picks.rows, picks.containers) if picks else Everything()


def _knowledge_if(agent: PhoneAgent, picks: Picks | None, stored: Scope) -> Scope:
    if picks is None:
        return stored
    return _selected_knowledge(agent, picks.rows, picks.containers) if picks else Everything()


def _segments(contact: Contact | None) -> frozenset[UUID]:
    if contact is None:
        return frozenset()
    places = ContactSegment.objects.filter(
        organization_id=contact.organization_id, contact_id=contact.pk
    )
    return frozenset(places.values_list("segment_id", flat=True))


def _instructions(agent: PhoneAgent, mode: str | None) -> Scope:
    if mode is None:
        return NOTHING
    where = {"organization_id": agent.organization_id, "agent_id": agent.pk}
    ids = frozenset(
        InstructionPick.objects.filter(**where).values_list("instruction_id", flat=True)
    )
    picked = list(DirectoryPick.objects.filter(**where).values_list("directory_id", flat=True))
    if mode == Mode.ALL and not ids and not picked:
        return Everything()
    return _selected_instructions(agent, ids, picked)


def _selected_instructions(
    agent: PhoneAgent, ids: frozenset[UUID], picked: Iterable[UUID]
) -> Selection:
    directories = _directories(agent, list(picked))
    is_live = _exists(LIVE_INSTRUCTION, [agent.organization_id, list(ids), list(directories)])
    return Selection(ids=ids, directories=directories, is_vacant=not is_live)


def _directories(agent: PhoneAgent, picked: list[UUID]) -> frozenset[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(DIRECTORIES, [agent.organization_id, picked, agent.organization_id])
        return frozenset(row[0] for row in cursor.fetchall())


def _knowledge(agent: PhoneAgent, mode: str | None) -> Scope:
    if mode is None:
        return NOTHING
    where = {"organization_id": agent.organization_id, "agent_id": agent.pk}
    ids = frozenset(ItemPick.objects.filter(**where).values_list("item_id", flat=True))
    folders = frozenset(FolderPick.objects.filter(**where).values_list("folder_key", flat=True))
    if mode == Mode.ALL and not ids and not folders:
        return Everything()
    return _selected_knowledge(agent, ids, folders)


def _selected_knowledge(
    agent: PhoneAgent, ids: frozenset[UUID], folders: frozenset[str]
) -> Selection:
    parameters = {
        "organization": agent.organization_id,
        "ids": list(ids),
        "folders": list(folders),
    }
    return Selection(ids=ids, folders=folders, is_vacant=not _exists(LIVE_ITEM, parameters))


def _exists(statement: str, parameters: list[Any] | dict[str, Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row: tuple[bool] = cursor.fetchone()
    return row[0]
