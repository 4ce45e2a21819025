"""Ask as an agent would be asked, and say why a row is or is not among the answers. Staff only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from knowledge.finding import find
from knowledge.retrieval.deadline import Deadline
from knowledge.retrieval.types import CATEGORIES, Allowlist, Answer, CategoryName, Ranked
from scopes.asking import Asked, CallerFacts, Question, Recording, ask
from scopes.explain import Verdict, explain, names
from scopes.resolution import allowlist_for
from tenants.isolation import organization_context
from tenants.models import Contact, Organization, PhoneAgent

USUAL_CHANNEL: Final = "phone"
USUAL_LIMIT: Final = 5
DOOR: Final = "staff"
DEADLINE_S: Final = 10.0
MOST_CHOICES: Final = 10


@dataclass(frozen=True)
class Call:
    """The call to imagine: who, on which channel, from where, when."""

    contact: Contact | None
    channel: str
    country: str | None
    at: datetime


@dataclass(frozen=True)
class Target:
    """A row that somebody asks about."""

    category: CategoryName
    id: UUID
    external_id: str
    title: str


@dataclass(frozen=True)
class Why:
    """Every gate's verdict on a row, and where it came in the ranking."""

    target: Target
    verdicts: tuple[Verdict, ...]
    place: str

    @property
    def kept_out_by(self) -> list[str]:
        """Return the gates that keep it out."""
        return names(list(self.verdicts))


def search_as(agent: PhoneAgent, queries: tuple[str, ...], call: Call, *, limit: int) -> Asked:
    """Answer what the voice door would; the record says that staff asked."""
    return ask(
        agent,
        Question(queries, limit=limit),
        CallerFacts(call.contact, call.channel, call.country),
        at=call.at,
        deadline=Deadline.after(DEADLINE_S),
        recording=Recording(door=DOOR),
    )


def contact_of(agent: PhoneAgent, external_id: str) -> Contact | None:
    """Return the agent's organization's contact with this id, if it has one."""
    with organization_context(agent.organization_id):
        return Contact.objects.filter(
            organization_id=agent.organization_id, external_id=external_id
        ).first()


def targets(agent: PhoneAgent, text: str) -> list[Target]:
    """Return the rows of the agent's organization that a name or id may mean, a few at most."""
    with organization_context(agent.organization_id):
        return [
            Target(category, *named)
            for category in CATEGORIES
            for named in find(category, [agent.organization_id], text)
            .order_by("-updated_at", "id")
            .values_list("pk", "external_id", "title")[:MOST_CHOICES]
        ]


def why(agent: PhoneAgent, target: Target, call: Call, asked: Asked | None = None) -> Why:
    """Return every gate's verdict on a row, and its place when something was asked.

    Cost: a handful of short statements.
    """
    with organization_context(agent.organization_id):
        verdicts = explain(target.category, target.id, _allowlist(agent, call)) or []
    place = _place(target, asked.answer) if asked else ""
    return Why(target, tuple(verdicts), place)


def _allowlist(agent: PhoneAgent, call: Call) -> Allowlist:
    return allowlist_for(
        agent, contact=call.contact, channel=call.channel, country=call.country, at=call.at
    )


def _place(target: Target, answer: Answer) -> str:
    for number, result in enumerate(answer.results, start=1):
        if result.asset_id == target.id:
            return _("It is result %s.") % number
    for number, ranked in enumerate(answer.ranked, start=1):
        if ranked.asset_id == target.id:
            told = _(
                "It was found (%(found)s; relevance %(relevance)s), in place %(number)s: not near enough."
            )
            return told % {
                "found": places(ranked),
                "relevance": f"{ranked.relevance:.2f}",
                "number": number,
            }
    return _("It is not among the candidates of this search.")


def places(ranked: Ranked) -> str:
    """Return where each leg put a row, in words; a leg looks once for each query."""
    told = []
    for leg, rank in ranked.ranks:
        name, _colon, query = leg.partition(":")
        said = _("%(leg)s %(rank)s for query %(query)s") if query else "%(leg)s %(rank)s"
        told.append(said % {"leg": _(name), "rank": rank, "query": int(query or 0) + 1})
    return ", ".join(told)


def agent_named(name: str) -> PhoneAgent | None:
    """Return the agent called `organization/agent`, if there is one."""
    slug, _, agent_slug = name.partition("/")
    organization = Organization.objects.filter(slug=slug).first()
    if organization is None:
        return None
    with organization_context(organization.pk):
        return (
            PhoneAgent.objects.select_related("organization")
            .filter(organization=organization, slug=agent_slug)
            .first()
        )


def exact_target(agent: PhoneAgent, text: str) -> Target | None:
    """Return the one row that an id or external id names, if there is exactly one."""
    named = [
        target for target in targets(agent, text) if text in {str(target.id), target.external_id}
    ]
    return named[0] if len(named) == 1 else None
