"""What picks are and what they cover now, read in one statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from knowledge.retrieval.types import Selection
from scopes.selecting import Picks
from tenants.models import Contact, PhoneAgent
from tenants.prepared import rows_of

_PICKED: Final = (
    "SELECT p.{} FROM {} p WHERE p.organization_id = %(organization)s AND p.agent_id = %(agent)s"
)
_STORED: Final = {
    "instruction": (
        _PICKED.format("instruction_id", "scopes_instructionpick"),
        _PICKED.format("directory_id", "scopes_directorypick"),
    ),
    "knowledge": (
        _PICKED.format("item_id", "scopes_itempick"),
        _PICKED.format("folder_key", "scopes_folderpick"),
    ),
}
_GIVEN: Final = {
    "instruction": ("SELECT unnest(%(rows)s::uuid[])", "SELECT unnest(%(directories)s::uuid[])"),
    "knowledge": ("SELECT unnest(%(items)s::uuid[])", "SELECT unnest(%(folders)s::text[])"),
}
_NAMES: Final = {"instruction": ("rows", "directories"), "knowledge": ("items", "folders")}
_MODE: Final = """(SELECT s.mode FROM scopes_agentscope s WHERE s.organization_id = %(organization)s
    AND s.agent_id = %(agent)s AND s.category = '{}')"""
# A directory covers its descendants as they are now; deleted targets keep the pick but cover nothing.
# Each way to something live ends at the first row, and is a look-up by key whatever the planner guesses.
_READ: Final = """
WITH RECURSIVE instructions(id) AS MATERIALIZED ({instructions}),
directories(id) AS MATERIALIZED ({directories}),
items(id) AS MATERIALIZED ({items}), folders(key) AS MATERIALIZED ({folders}),
covered AS (
  SELECT d.id FROM knowledge_instructiondirectory d
   WHERE d.organization_id = %(organization)s AND d.id = ANY(ARRAY(SELECT id FROM directories))
  UNION
  SELECT d.id FROM knowledge_instructiondirectory d
    JOIN covered ON d.parent_id = covered.id WHERE d.organization_id = %(organization)s)
SELECT {modes},
  ARRAY(SELECT c.segment_id FROM tenants_contactsegment c
         WHERE c.organization_id = %(organization)s AND c.contact_id = %(contact)s::uuid),
  ARRAY(SELECT id FROM instructions), ARRAY(SELECT id FROM covered),
  ARRAY(SELECT id FROM items), ARRAY(SELECT key FROM folders),
  EXISTS (SELECT 1 FROM directories),
  EXISTS (SELECT 1 FROM knowledge_instruction x WHERE {live} AND x.status = 'published'
             AND x.id = ANY(ARRAY(SELECT id FROM instructions)))
  OR EXISTS (SELECT 1 FROM covered CROSS JOIN LATERAL (
       SELECT 1 FROM knowledge_instruction x WHERE {live} AND x.status = 'published'
          AND x.directory_id = covered.id LIMIT 1) x),
  EXISTS (SELECT 1 FROM knowledge_item x WHERE {live} AND x.id = ANY(ARRAY(SELECT id FROM items)))
  OR EXISTS (SELECT 1 FROM folders f CROSS JOIN LATERAL (
       SELECT 1 FROM knowledge_item x WHERE {live} AND x.folder_key = f.key COLLATE "C" LIMIT 1) x)
  OR EXISTS (SELECT 1 FROM folders f CROSS JOIN LATERAL (
       SELECT 1 FROM knowledge_item x WHERE {live} AND x.folder_key >= (f.key || '/') COLLATE "C"
          AND x.folder_key < (f.key || '0') COLLATE "C" LIMIT 1) x)
"""
_LIVE: Final = "x.organization_id = %(organization)s AND x.deleted_at IS NULL"


@dataclass(frozen=True)
class Covered:
    """One category: the stored mode, whether anything is picked, and what the picks cover."""

    mode: str | None
    is_picked: bool
    selection: Selection


@dataclass(frozen=True)
class Read:
    """What decides a scope beside the gates, as of one instant."""

    segments: frozenset[UUID]
    instructions: Covered
    knowledge: Covered


def read(
    agent: PhoneAgent, contact: Contact | None = None, given: Mapping[str, Picks] | None = None
) -> Read:
    """Return an agent's picks with what they cover; `given` stands in the place of a category's.

    Cost: one statement, whose time grows with the picks and not with what they cover.
    """
    given = given or {}
    values: dict[str, Any] = {
        "organization": agent.organization_id,
        "agent": agent.pk,
        "contact": contact and contact.pk,
    }
    for category, picks in given.items():
        rows, containers = _NAMES[category]
        values |= {rows: list(picks.rows), containers: list(picks.containers)}
    (row,) = rows_of(_statement(frozenset(given)), values)
    return _read(row)


def _statement(given: frozenset[str]) -> str:
    source = {name: (_GIVEN if name in given else _STORED)[name] for name in _STORED}
    return _READ.format(
        instructions=source["instruction"][0],
        directories=source["instruction"][1],
        items=source["knowledge"][0],
        folders=source["knowledge"][1],
        modes=", ".join(map(_MODE.format, _STORED)),
        live=_LIVE,
    )


def _read(row: tuple[Any, ...]) -> Read:
    instruction_mode, knowledge_mode, segments, instructions, covered, items, folders = row[:7]
    has_directories, has_instruction, has_item = row[7:]
    return Read(
        frozenset(segments),
        Covered(
            instruction_mode,
            bool(instructions) or has_directories,
            Selection(
                ids=frozenset(instructions),
                directories=frozenset(covered),
                is_vacant=not has_instruction,
            ),
        ),
        Covered(
            knowledge_mode,
            bool(items or folders),
            Selection(ids=frozenset(items), folders=frozenset(folders), is_vacant=not has_item),
        ),
    )
