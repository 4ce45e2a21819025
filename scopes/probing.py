"""The probe for canaries: searches from where they must not be found, and once from where one must.

Both walls of a search are tried apart, the statement that finds and the one that returns text, so
that a hole in either shows before the other has one too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db.models import F

from knowledge.canaries import (
    CHANNELS,
    FIRST,
    LAST,
    OPEN,
    WORDS,
    Canary,
    canaries_shown,
    plant,
)
from knowledge.models import Instruction, Item
from knowledge.retrieval.candidates import Probe, candidates
from knowledge.retrieval.policy import DEFAULT_POLICY
from knowledge.retrieval.query import understand
from knowledge.retrieval.rendering import Asking, ForeignRow, render
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.retrieval.types import CATEGORIES, Allowlist, Focus, Ranked, Selection
from scopes.models import AgentScope, CanaryLook, Mode
from scopes.resolution import allowlist_for, allowlist_if
from scopes.selecting import Picks
from tenants.isolation import organization_context
from tenants.models import Organization, PhoneAgent, Segment

# Of what there is more of, the next look takes the next ones.
MOST: Final = 20
BUDGET_S: Final = 45.0
NOWHERE: Final = "canary"
_WIDE: Final = replace(DEFAULT_POLICY, characters_all=1_000_000)
_NOTHING: Final = Selection(frozenset(), is_vacant=True)
log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Vantage:
    """Someone who searches, and the canaries that are no leak from there."""

    name: str
    allowlist: Allowlist
    may_find: frozenset[UUID] = frozenset()
    must_find: frozenset[UUID] = frozenset()


@dataclass
class Look:
    """What one look at one organization came to, in sentences for staff."""

    searches: int = 0
    leaks: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def look_everywhere(
    at: datetime, *, clock: Callable[[], float] = time.monotonic
) -> dict[str, Look]:
    """Look at every organization with an agent, the one that waited longest first.

    Shape: slug -> what came of it. What there is no time for is first the next time.
    """
    ends = clock() + BUDGET_S
    looks: dict[str, Look] = {}
    for organization in _longest_waiting():
        if clock() >= ends:
            break
        look = look_at(organization, at=at)
        if look is not None:
            looks[organization.slug] = look
    return looks


def look_at(organization: Organization, *, at: datetime) -> Look | None:
    """Search one organization's canaries from everywhere and keep what came of it; None without an agent.

    Cost: some ten short statements for each place to look from.
    """
    with organization_context(organization.pk):
        agents = list(PhoneAgent.objects.filter(organization=organization).order_by("pk"))
        segments = list(
            Segment.objects.filter(organization=organization).values_list("pk", flat=True)
        )
    if not agents:
        return None
    canaries = plant(organization.pk, segments)
    look = Look()
    _from_inside(look, canaries, _taken(agents, at), _taken(segments, at), at)
    _from_the_neighbour(look, organization, canaries, at)
    _unseen_without_asking(look, organization.pk, canaries)
    _keep(organization, look, at)
    return look


def _longest_waiting() -> list[Organization]:
    everyone = list(Organization.objects.order_by("pk"))
    with organization_context(*(organization.pk for organization in everyone)):
        looked = dict(CanaryLook.objects.values_list("organization_id", "at"))
    return sorted(everyone, key=lambda o: (o.pk in looked, looked.get(o.pk)))


def _taken(rows: Sequence[T], at: datetime) -> list[T]:
    if len(rows) <= MOST:
        return list(rows)
    start = int(at.timestamp() // 60) * MOST % len(rows)
    return [*rows[start:], *rows[:start]][:MOST]


def _from_inside(
    look: Look,
    canaries: Sequence[Canary],
    agents: Sequence[PhoneAgent],
    segments: Sequence[UUID],
    at: datetime,
) -> None:
    with organization_context(agents[0].organization_id, snapshot=True), canaries_shown():
        for vantage in (
            *_callers(_stranger(agents[0], at), canaries, segments),
            *_own_scopes(agents, canaries, at),
        ):
            _search(look, vantage, canaries)


def _from_the_neighbour(
    look: Look, organization: Organization, canaries: Sequence[Canary], at: datetime
) -> None:
    """Search as another organization's agent: once with row security out of the way, once with it alone."""
    others = Organization.objects.exclude(pk=organization.pk).order_by("pk")
    neighbour = others.filter(pk__gt=organization.pk).first() or others.first()
    if neighbour is None:
        return
    with organization_context(neighbour.pk, organization.pk, snapshot=True), canaries_shown():
        agent = PhoneAgent.objects.filter(organization=neighbour).first()
        if agent is not None:
            _search(look, Vantage("another organization", _stranger(agent, at)), canaries)
    with organization_context(neighbour.pk), canaries_shown():
        _count(look, "row security of another organization", canaries)


def _unseen_without_asking(look: Look, organization_id: int, canaries: Sequence[Canary]) -> None:
    with organization_context(organization_id):
        _count(look, "a transaction that did not ask for them", canaries)


def _stranger(agent: PhoneAgent, at: datetime) -> Allowlist:
    everything: dict[str, Picks] = {category: Picks() for category in CATEGORIES}
    return allowlist_if(agent, everything, channel=NOWHERE, country=None, at=at)


def _callers(
    stranger: Allowlist, canaries: Sequence[Canary], segments: Sequence[UUID]
) -> Iterator[Vantage]:
    opened = _named(canaries, OPEN)
    yield Vantage("an unknown caller", stranger, opened, must_find=opened)
    for segment in segments:
        caller = replace(stranger.caller, segments=frozenset({segment}))
        own = opened | _named(canaries, f"segment {segment}")
        yield Vantage("a contact of one segment", replace(stranger, caller=caller), own, own)
    for channel in CHANNELS:
        caller = replace(stranger.caller, channel=channel)
        own = opened | _named(canaries, f"channel {channel}")
        yield Vantage(f"a caller by {channel}", replace(stranger, caller=caller), own, own)
    nothing = replace(stranger, instructions=_NOTHING, knowledge=_NOTHING)
    yield Vantage("a selection of nothing", nothing)


def _own_scopes(
    agents: Sequence[PhoneAgent], canaries: Sequence[Canary], at: datetime
) -> Iterator[Vantage]:
    """Search as each agent is set up now; nobody can have picked a canary."""
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


def _search(look: Look, vantage: Vantage, canaries: Sequence[Canary]) -> None:
    look.searches += 1
    for wall, search in (("found", _found), ("told", _told)):
        seen = search(vantage.allowlist, canaries)
        for canary in canaries:
            line = f"{canary.category} {canary.name}: {wall} by {vantage.name}"
            if canary.id in seen and canary.id not in vantage.may_find:
                look.leaks.append(line)
            if canary.id not in seen and canary.id in vantage.must_find:
                look.missed.append(line.replace(wall, f"not {wall}"))


def _found(allowlist: Allowlist, canaries: Sequence[Canary]) -> set[UUID]:
    queries = understand([WORDS], organization_id=allowlist.organization_id)
    probe = Probe(queries, None, None, 1_000, 1_000, pinned=[canary.id for canary in canaries])
    return {
        candidate.asset_id
        for category in CATEGORIES
        for candidate in candidates(category, probe, allowlist, CorpusStatistics())
    }


def _told(allowlist: Allowlist, canaries: Sequence[Canary]) -> set[UUID]:
    ranking = [_ranked(canary) for canary in canaries]
    try:
        results = render(ranking, Asking(allowlist, Focus(), _WIDE), limit=len(ranking))
    except ForeignRow:
        return {canary.id for canary in canaries}
    return {result.asset_id for result in results}


def _ranked(canary: Canary) -> Ranked:
    return Ranked(canary.category, canary.id, 0, "knowledge", "", "", 1.0, None, 0.0, (), ())


def _count(look: Look, name: str, canaries: Sequence[Canary]) -> None:
    look.searches += 1
    for model in (Instruction, Item):
        rows = model._default_manager.filter(pk__range=(FIRST, LAST))
        seen = set(rows.values_list("pk", flat=True))
        look.leaks += [f"{c.category} {c.name}: seen by {name}" for c in canaries if c.id in seen]


def _keep(organization: Organization, look: Look, at: datetime) -> None:
    values: dict[str, Any] = {
        "at": at, "searches": look.searches, "leaks": look.leaks, "missed": look.missed,
    }  # fmt: skip
    if look.leaks:
        values["leaked_at"] = at
        log.critical(
            "canary_leak", extra={"organization": organization.pk, "leaks": len(look.leaks)}
        )
    if look.missed:
        log.error("canary_missed", extra={"organization": organization.pk})
    with organization_context(organization.pk):
        CanaryLook.objects.update_or_create(organization=organization, defaults=values)


def newest_looks() -> list[CanaryLook]:
    """Return what the newest look came to, of the organizations in the context."""
    looks = CanaryLook.objects.select_related("organization")
    return list(looks.order_by(F("leaked_at").desc(nulls_last=True), "organization__slug"))
