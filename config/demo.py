"""The demo organization: made from `demo/world.json` by the verbs that everyone else uses."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.core.management import call_command
from django.utils.crypto import get_random_string

from config.private import ROOT
from golden import drafting, publishing
from golden.acting import Act
from golden.content import Content
from golden.models import AnswerVersion
from knowledge.folders import folder_key
from knowledge.indexing.writing import change, ensure_directory
from knowledge.models import Category, Instruction, Item
from scopes.models import AgentScope
from scopes.selecting import Picks, create_scopes, explicit_picks, select
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.keys import issue_key
from tenants.models import (
    Contact,
    ContactSegment,
    Membership,
    Organization,
    PhoneAgent,
    Segment,
    ServiceKeyBinding,
    User,
)

FOLDER: Final = ROOT / "demo"
LANGUAGES: Final = ("en", "ar", "de", "es", "zh")
BY: Final = Actor.process("demo")


@dataclass(frozen=True)
class Demo:
    """The world as its file says, and the organization that stands for it."""

    world: dict[str, Any]
    organization: Organization
    at: datetime


def read_world(folder: Path = FOLDER) -> dict[str, Any]:
    """Return what `world.json` says."""
    world: dict[str, Any] = json.loads((folder / "world.json").read_text("utf-8"))
    return world


def load_people(world: dict[str, Any], *, at: datetime) -> Demo:
    """Make organization, members, segments, contacts and agents where they are missing."""
    named = world["organization"]
    organization, _ = Organization.objects.get_or_create(
        slug=named["slug"], defaults={key: named[key] for key in ("name", "language", "country")}
    )
    demo = Demo(world, organization, at)
    _members(demo)
    with organization_context(organization.pk):
        _segments(demo)
        _contacts(demo)
        _agents(demo)
    return demo


def _members(demo: Demo) -> None:
    for member in demo.world["members"]:
        user, _ = User.objects.get_or_create(
            username=member["username"], defaults={"is_staff": True}
        )
        Membership.objects.get_or_create(
            user=user, organization=demo.organization, role=member["role"]
        )


def _segments(demo: Demo) -> None:
    for segment in demo.world["segments"]:
        Segment.objects.get_or_create(
            organization=demo.organization, slug=segment["slug"], defaults={"name": segment["name"]}
        )


def _contacts(demo: Demo) -> None:
    segments = {s.slug: s for s in Segment.objects.filter(organization=demo.organization)}
    for told in demo.world["contacts"]:
        contact, _ = Contact.objects.get_or_create(
            organization=demo.organization,
            external_id=told["external_id"],
            defaults={"name": told["name"], "country": told["country"]},
        )
        for slug in told["segments"]:
            ContactSegment.objects.get_or_create(
                organization=demo.organization, contact=contact, segment=segments[slug]
            )


def _agents(demo: Demo) -> None:
    for told in demo.world["agents"]:
        plain = {key: told[key] for key in ("name", "language", "base_instructions", "fallback")}
        agent, is_new = PhoneAgent.objects.get_or_create(
            organization=demo.organization, slug=told["slug"], defaults=plain
        )
        if is_new:
            create_scopes(agent)


def load_content(demo: Demo) -> None:
    """Bring the articles and instructions in, as any operator would."""
    for language in LANGUAGES:
        _ingest(demo, f"articles/{language}", source="help", folder=language, lang=language)
    _ingest(demo, "gated.jsonl", source="handbook")
    for language in ("en", "ar"):
        _ingest(demo, f"instructions/{language}", instructions=True, lang=language)
    with organization_context(demo.organization.pk):
        for told in demo.world["after_loading"]["withdraw"]:
            change(_item(demo, told), at=demo.at, review_status=told["review_status"])


def _ingest(demo: Demo, path: str, **options: Any) -> None:
    call_command(
        "ingest",
        str(FOLDER / path),
        organization=demo.organization.slug,
        stdout=io.StringIO(),
        **options,
    )


def _item(demo: Demo, told: dict[str, Any]) -> Item:
    return Item.objects.select_for_update(of=("self",), no_key=True).get(
        organization=demo.organization,
        source__slug=told["source"],
        external_id=told["external_id"],
    )


def load_scopes(demo: Demo) -> None:
    """Pick what each agent may search, unless it has picks already."""
    for told in demo.world["agents"]:
        for category, name in (
            (Category.INSTRUCTION, "instructions"),
            (Category.KNOWLEDGE, "knowledge"),
        ):
            _load_scope(demo, told["slug"], category, told["scope"][name])


def _load_scope(demo: Demo, slug: str, category: Category, told: dict[str, Any]) -> None:
    with organization_context(demo.organization.pk):
        agent = PhoneAgent.objects.get(organization=demo.organization, slug=slug)
        scope = AgentScope.objects.get(agent=agent, category=category)
        wanted = _picks(demo, category, told)
        picked = explicit_picks(agent, category)
    if wanted != picked:
        select(agent, category, wanted, version=scope.version, by=BY, at=demo.at)


def _picks(demo: Demo, category: Category, told: dict[str, Any]) -> Picks:
    if told["mode"] == "all":
        return Picks()
    if category == Category.KNOWLEDGE:
        items = frozenset(_item(demo, item).pk for item in told["items"])
        return Picks(items, frozenset(folder_key(f["source"], f["path"]) for f in told["folders"]))
    directories = [ensure_directory(demo.organization.pk, path) for path in told["directories"]]
    rows = Instruction.objects.filter(
        organization=demo.organization, external_id__in=told["instructions"]
    )
    return Picks(
        frozenset(rows.values_list("pk", flat=True)),
        frozenset(directory.pk for directory in directories if directory),
    )


def load_answers(demo: Demo) -> None:
    """Write and publish the golden answers that were never published yet."""
    act = Act(BY, demo.at, "Part of the demo.")
    for told in demo.world["golden"]:
        with organization_context(demo.organization.pk):
            known = AnswerVersion.objects.filter(question=told["question"]).exists()
        if not known:
            made = drafting.create_answer(demo.organization, _answer(told), act)
            publishing.override_publish(demo.organization.pk, made.pk, act)


def _answer(told: dict[str, Any]) -> Content:
    return Content(
        question=told["question"],
        answer=told["answer"],
        paraphrases=tuple(told["paraphrases"]),
        language=told["lang"],
        folder=told["folder"],
    )


def renew_access(demo: Demo) -> dict[str, Any]:
    """Return a new password for the admin and a new service key: neither is kept readable here."""
    admin = User.objects.get(username=demo.world["members"][0]["username"])
    password = get_random_string(20)
    admin.set_password(password)
    admin.is_staff = True
    admin.save()
    with organization_context(demo.organization.pk):
        held = ServiceKeyBinding.objects.filter(
            organization=demo.organization, key__label="demo", is_active=True
        )
        held.update(is_active=False)
    issued = issue_key([demo.organization], label="demo", by=BY, at=demo.at)
    return {
        "admin_user": admin.username,
        "admin_password": password,
        "service_key": issued.token,
        "organization": demo.organization.slug,
        "agents": [agent["slug"] for agent in demo.world["agents"]],
        "contacts": [contact["external_id"] for contact in demo.world["contacts"]],
    }
