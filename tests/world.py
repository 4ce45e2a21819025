"""The shared world: three actors, each with one unmistakable sentence.

`receptionist` of acme was granted the opening hours; `apprentice` of acme was granted nothing that
exists; `rival` belongs to globex. Every test that asks who may hear what starts here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from knowledge.folders import folder_key
from knowledge.indexing.writing import (
    InstructionContent,
    ItemContent,
    ensure_directory,
    write_instruction,
    write_item,
)
from knowledge.models import Item, Source
from scopes.models import AgentScope
from scopes.selecting import Picks, create_scopes, select
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import Contact, ContactSegment, Organization, PhoneAgent, Segment

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
BY = Actor.process("tests")


@dataclass
class Tenant:
    """One organization and short ways to put things into it; each call is a transaction."""

    organization: Organization
    sources: dict[str, Source] = field(default_factory=dict)

    def context(self):
        return organization_context(self.organization.pk)

    def source(self, slug: str = "help") -> Source:
        if slug not in self.sources:
            with self.context():
                self.sources[slug], _ = Source.objects.get_or_create(
                    organization=self.organization, slug=slug, defaults={"name": slug.title()}
                )
        return self.sources[slug]

    def item(self, name: str, body: str = "", *, folder: str = "", **content: Any) -> UUID:
        source = self.source(content.pop("source", "help"))
        content.setdefault("title", name)
        with self.context():
            return write_item(
                ItemContent(
                    organization_id=self.organization.pk,
                    source_id=source.pk,
                    external_id=name,
                    body=body or f"{name}.",
                    folder_key=folder_key(source.slug, folder),
                    **content,
                ),
                at=AT,
            ).id

    def instruction(
        self, name: str, body: str = "", *, directory: str = "", **content: Any
    ) -> UUID:
        content.setdefault("title", name)
        with self.context():
            place = ensure_directory(self.organization.pk, directory)
            return write_instruction(
                InstructionContent(
                    organization_id=self.organization.pk,
                    external_id=name,
                    body=body or f"{name}.",
                    directory_id=place.pk if place else None,
                    **content,
                ),
                at=AT,
            ).id

    def directory(self, path: str) -> UUID:
        with self.context():
            found = ensure_directory(self.organization.pk, path)
            assert found is not None
            return found.pk

    def agent(self, slug: str = "receptionist") -> PhoneAgent:
        with self.context():
            agent = PhoneAgent.objects.create(
                organization=self.organization,
                slug=slug,
                name=slug.title(),
                base_instructions=f"You are {slug}.",
                fallback="I will find out and call you back.",
            )
            create_scopes(agent)
        return agent

    def pick(self, agent: PhoneAgent, category: str, *, rows=(), containers=()) -> None:
        with self.context():
            scope = AgentScope.objects.get(agent=agent, category=category)
        picks = Picks(frozenset(rows), frozenset(containers))
        select(agent, category, picks, version=scope.version, by=BY, at=AT)

    def segment(self, slug: str) -> Segment:
        with self.context():
            return Segment.objects.create(organization=self.organization, slug=slug, name=slug)

    def contact(self, external_id: str, *segments: Segment) -> Contact:
        with self.context():
            contact = Contact.objects.create(
                organization=self.organization, external_id=external_id
            )
            for segment in segments:
                ContactSegment.objects.create(
                    organization=self.organization, contact=contact, segment=segment
                )
        return contact

    def change_item(self, item_id: UUID, **columns: Any) -> None:
        """Change columns as SQL would, beside every verb."""
        with self.context():
            Item.objects.filter(pk=item_id).update(**columns)


def tenant(slug: str) -> Tenant:
    return Tenant(Organization.objects.create(slug=slug, name=slug.title()))


@dataclass
class World:
    """Two organizations and three agents."""

    acme: Tenant
    globex: Tenant
    receptionist: PhoneAgent
    apprentice: PhoneAgent
    rival: PhoneAgent
    opening_hours: UUID
    price_list: UUID
    rival_secret: UUID


def world() -> World:
    acme, globex = tenant("acme"), tenant("globex")
    hours = acme.item(
        "Opening hours", "The pelican lounge opens at seven in the morning.", folder="public/hours"
    )
    prices = acme.item(
        "Price list", "A flamingo ticket costs forty dirhams.", folder="public/prices"
    )
    secret = globex.item("Opening hours", "The ostrich lounge opens at nine in the evening.")
    receptionist, apprentice = acme.agent("receptionist"), acme.agent("apprentice")
    rival = globex.agent("rival")
    acme.pick(receptionist, "knowledge", containers=["help/public/hours"])
    acme.pick(apprentice, "knowledge", containers=["help/empty"])
    acme.pick(apprentice, "instruction", containers=[acme.directory("empty")])
    return World(acme, globex, receptionist, apprentice, rival, hours, prices, secret)
