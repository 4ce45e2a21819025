"""Resolve who asks into what may be searched: the only maker of an Allowlist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from knowledge.retrieval.types import Allowlist, Caller, Everything, Scope, Selection
from scopes.covering import Covered, read
from scopes.models import Mode
from scopes.selecting import Picks
from tenants.models import Contact, PhoneAgent

NOTHING: Final = Selection(ids=frozenset(), is_vacant=True)


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
    Cost: one statement, whose time grows with the picks and not with what they cover.
    """
    found = read(agent, contact)
    return Allowlist(
        organization_id=agent.organization_id,
        agent_id=agent.pk,
        caller=Caller(channel, country or None, found.segments),
        at=at,
        instructions=_scope(found.instructions),
        knowledge=_scope(found.knowledge),
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
    found = read(agent, given=picks)
    saved = {name: str(Mode.SELECTED if chosen else Mode.ALL) for name, chosen in picks.items()}
    instructions, knowledge = found.instructions, found.knowledge
    return Allowlist(
        organization_id=agent.organization_id,
        agent_id=agent.pk,
        caller=Caller(channel, country or None, frozenset()),
        at=at,
        instructions=_scope(
            replace(instructions, mode=saved.get("instruction", instructions.mode))
        ),
        knowledge=_scope(replace(knowledge, mode=saved.get("knowledge", knowledge.mode))),
    )


def _scope(found: Covered) -> Scope:
    """Without a stored mode nothing may be searched; picks restrict whatever the mode says."""
    if found.mode is None:
        return NOTHING
    if found.mode == Mode.ALL and not found.is_picked:
        return Everything()
    return found.selection
