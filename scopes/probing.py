"""The probe for canaries: searches from where they must not be found, and once from where one must.

The walls of a search are tried apart, either leg of the statement that finds and the one that
returns text, so that a hole in one shows before another has one too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db.models import F

from knowledge.canaries import Canary, canaries_shown, plant
from knowledge.canary_vectors import Stored, plant_vectors, searched_vector
from knowledge.models import Document, Instruction, Item
from knowledge.tables.canaries import FIRST, LAST
from scopes.looks import Look, Seen
from scopes.models import CanaryLook, Unasked
from scopes.vantages import Vantage, callers, own_scopes, stranger
from scopes.walls import found_by_vectors, found_by_words, told
from tenants.isolation import organization_context
from tenants.models import Organization, PhoneAgent, Segment
from tenants.rounds import for_each

# Of what there is more of, the next look takes the next ones.
MOST: Final = 20
BUDGET_S: Final = 45.0
log = logging.getLogger(__name__)
T = TypeVar("T")


def look_everywhere(
    at: datetime, *, clock: Callable[[], float] = time.monotonic
) -> dict[str, Look]:
    """Look at every organization with an agent, the one that waited longest first.

    Shape:  slug -> what came of it. What there is no time for is first the next time.
    Raises: RoundIncomplete
    """
    ends = clock() + BUDGET_S
    waiting = takewhile(lambda _: clock() < ends, _longest_waiting())
    return for_each("looking", waiting, lambda organization: look_at(organization, at=at))


def look_at(organization: Organization, *, at: datetime) -> Look | None:
    """Search one organization's canaries from everywhere and keep what came of it; None without an agent.

    Cost: some twelve short statements for each place to look from; nothing is embedded.
    """
    with organization_context(organization.pk):
        agents = list(PhoneAgent.objects.filter(organization=organization).order_by("pk"))
        segments = list(
            Segment.objects.filter(organization=organization).values_list("pk", flat=True)
        )
    if not agents:
        return None
    canaries = plant(organization.pk, segments)
    plant_vectors(organization.pk, canaries, at=at)
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
    organization_id = agents[0].organization_id
    with organization_context(organization_id, snapshot=True), canaries_shown():
        stored = searched_vector(organization_id, canaries)
        for vantage in (
            *callers(stranger(agents[0], at), canaries, segments),
            *own_scopes(agents, canaries, at),
        ):
            _search(look, vantage, canaries, stored)


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
            vantage = Vantage("another organization", stranger(agent, at))
            _search(look, vantage, canaries, searched_vector(organization.pk, canaries))
    with organization_context(neighbour.pk), canaries_shown():
        _count(look, "row security of another organization", canaries)


def _unseen_without_asking(look: Look, organization_id: int, canaries: Sequence[Canary]) -> None:
    with organization_context(organization_id):
        _count(look, "a transaction that did not ask for them", canaries)


def _search(
    look: Look, vantage: Vantage, canaries: Sequence[Canary], stored: Stored | None
) -> None:
    look.searches += 1
    look.lexical_searches += 1
    by, allowlist = f"by {vantage.name}", vantage.allowlist
    found = found_by_words(allowlist, canaries)
    look.judge(vantage, canaries, Seen(f"found {by}", found, "lexical"))
    look.judge(vantage, canaries, Seen(f"told {by}", told(allowlist, canaries)))
    if stored is None:
        look.unasked = Unasked.NO_SPACE
    else:
        _search_by_vectors(look, vantage, canaries, stored)


def _search_by_vectors(
    look: Look, vantage: Vantage, canaries: Sequence[Canary], stored: Stored
) -> None:
    if stored.lacking:
        look.unasked = Unasked.NO_VECTORS
    if stored.vector is None:
        return
    look.dense_searches += not stored.lacking
    found = found_by_vectors(vantage.allowlist, stored.space_id, stored.vector)
    asked = [canary for canary in canaries if canary.id not in stored.lacking]
    look.judge(vantage, asked, Seen(f"found by {vantage.name}, by vectors", found, "dense"))


def _count(look: Look, name: str, canaries: Sequence[Canary]) -> None:
    look.searches += 1
    # The index document of a canary has its id.
    for model in (Instruction, Item, Document):
        rows = model._default_manager.filter(pk__range=(FIRST, LAST))
        seen = set(rows.values_list("pk", flat=True))
        look.leaks += [f"{c.category} {c.name}: seen by {name}" for c in canaries if c.id in seen]


def _keep(organization: Organization, look: Look, at: datetime) -> None:
    values: dict[str, Any] = {"at": at, **vars(look)}
    if not look.unasked:
        values["dense_at"] = at
    if look.leaks:
        values["leaked_at"] = at
    _tell(organization, look)
    with organization_context(organization.pk):
        CanaryLook.objects.update_or_create(organization=organization, defaults=values)


def _tell(organization: Organization, look: Look) -> None:
    named = {"organization": organization.pk}
    if look.leaks:
        log.critical("canary_leak", extra=named | {"leaks": len(look.leaks)})
    if look.missed:
        log.error("canary_missed", extra=named)
    if look.unasked:
        log.warning("canary_not_probed", extra=named | {"reason": str(look.unasked)})


def newest_looks() -> list[CanaryLook]:
    """Return what the newest look came to, of the organizations in the context."""
    looks = CanaryLook.objects.select_related("organization")
    return list(looks.order_by(F("leaked_at").desc(nulls_last=True), "organization__slug"))
