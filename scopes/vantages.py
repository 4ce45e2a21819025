"""From where the probe looks for canaries: who searches there, and what is no leak from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from knowledge.canaries import CHANNELS, OPEN, Canary
from knowledge.retrieval.types import CATEGORIES, Allowlist, Selection
from scopes.models import AgentScope, Mode
from scopes.resolution import allowlist_for, allowlist_if
from scopes.selecting import Picks
from tenants.models import PhoneAgent

NOWHERE: Final = "canary"
_NOTHING: Final = Selection(frozenset(), is_vacant=True)


@dataclass(frozen=True)
class Vantage:
    """Someone who searches, and the canaries that are no leak from there."""

    name: str
    allowlist: Allowlist
    may_find: frozenset[UUID] = frozenset()
    must_find: frozenset[UUID] = frozenset()


def stranger(agent: PhoneAgent, at: datetime) -> Allowlist:
    """Return the allowlist of an unknown caller of an agent that may search everything."""
    everything: dict[str, Picks] = {category: Picks() for category in CATEGORIES}
    return allowlist_if(agent, everything, channel=NOWHERE, country=None, at=at)


def callers(
    unknown: Allowlist, canaries: Sequence[Canary], segments: Sequence[UUID]
) -> Iterator[Vantage]:
    """Yield every kind of caller of one organization, and a selection of nothing."""
    opened = _named(canaries, OPEN)
    yield Vantage("an unknown caller", unknown, opened, must_find=opened)
    for segment in segments:
        caller = replace(unknown.caller, segments=frozenset({segment}))
        own = opened | _named(canaries, f"segment {segment}")
        yield Vantage("a contact of one segment", replace(unknown, caller=caller), own, own)
    for channel in CHANNELS:
        caller = replace(unknown.caller, channel=channel)
        own = opened | _named(canaries, f"channel {channel}")
        yield Vantage(f"a caller by {channel}", replace(unknown, caller=caller), own, own)
    nothing = replace(unknown, instructions=_NOTHING, knowledge=_NOTHING)
    yield Vantage("a selection of nothing", nothing)


def own_scopes(
    agents: Sequence[PhoneAgent], canaries: Sequence[Canary], at: datetime
) -> Iterator[Vantage]:
    """Yield each agent as it is set up now; nobody can have picked a canary."""
    for agent in agents:
        allowlist = allowlist_for(agent, contact=None, channel=NOWHERE, country=None, at=at)
        modes = AgentScope.objects.filter(organization_id=agent.organization_id, agent=agent)
        whole = set(modes.filter(mode=Mode.ALL).values_list("category", flat=True))
        yield Vantage(
            f"the agent {agent.slug}",
            allowlist,
            frozenset(c.id for c in canaries if c.name == OPEN and c.category in whole),
        )


def _named(canaries: Sequence[Canary], name: str) -> frozenset[UUID]:
    return frozenset(canary.id for canary in canaries if canary.name == name)
