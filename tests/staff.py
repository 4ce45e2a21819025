"""Five people at the admin: an operator, two admins, a viewer and an editor, a stranger without roles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.test import Client
from lxml import html

from golden.acting import Act
from golden.content import Content
from golden.drafting import create_answer
from golden.models import GoldenAnswer
from golden.publishing import override_publish
from knowledge.models import (
    BulkJob,
    CalibrationProfile,
    EmbeddingSpace,
    ImportFailure,
    ImportRun,
    IndexState,
    Instruction,
    InstructionDirectory,
    Item,
    SearchRecord,
    SourceSchedule,
    UsageEntry,
)
from scopes.models import DirectoryPick, FolderPick, InstructionPick, ItemPick
from tenants.auditing import Actor, Change, note
from tenants.keys import issue_key
from tenants.models import Membership, Organization, Role, ServiceKeyBinding, User
from tests.world import AT, Tenant, tenant
from voiceapi.models import VoiceSession


def person(name: str, *memberships: tuple[Organization, str], **flags: Any) -> User:
    user = User.objects.create_user(name, password="a long enough word", is_staff=True, **flags)
    for organization, role in memberships:
        Membership.objects.create(user=user, organization=organization, role=role)
    return user


def browser(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user, backend="tenants.sign_in.SignInBackend")
    return client


def posted(client: Client, address: str) -> dict[str, list[str]]:
    """The form as a page shows it, ready to be sent back."""
    page = html.fromstring(client.get(address).content.decode())
    (form,) = [one for one in page.forms if (one.get("id") or "").endswith("_form")]
    sent: dict[str, list[str]] = {}
    for name, value in form.form_values():
        sent.setdefault(name, []).append(value)
    return sent


@dataclass
class Office:
    """Acme and Globex with their staff; `rows` has one of acme's rows for every model of the admin."""

    acme: Tenant
    globex: Tenant
    people: dict[str, User | None] = field(default_factory=dict)
    rows: dict[str, Any] = field(default_factory=dict)
    _browsers: dict[str, Client] = field(default_factory=dict)

    def as_(self, name: str) -> Client:
        if name not in self._browsers:
            self._browsers[name] = browser(self.people[name])
        return self._browsers[name]


def office() -> Office:
    acme, globex = tenant("acme"), tenant("globex")
    mine, theirs = acme.organization, globex.organization
    people = {
        "operator": person("operator", is_superuser=True),
        "admin": person("admin", (mine, Role.ADMIN)),
        "editor": person("editor", (mine, Role.EDITOR)),
        "viewer": person("viewer", (mine, Role.VIEWER)),
        "rival": person("rival", (theirs, Role.ADMIN)),
        "stranger": person("stranger"),
        "nobody": None,
    }
    made = Office(acme, globex, people)
    globex.agent("rival-desk")
    made.rows = _rows(made) | {"golden": _rule(mine)}
    return made


def _rule(organization: Organization) -> GoldenAnswer:
    act = Act(Actor.process("tests"), AT, "Because.")
    content = Content(question="No advice", answer="Never give legal advice.")
    rule = create_answer(organization, content, act, kind="rule")
    return override_publish(organization.pk, rule.pk, act)


def _rows(office: Office) -> dict[str, Any]:
    acme, organization = office.acme, office.acme.organization
    agent, segment = acme.agent("front-desk"), acme.segment("gold")
    contact = acme.contact("crm-1", segment)
    item = acme.item("Opening hours", "The pelican lounge opens at seven.", folder="public")
    instruction = acme.instruction("Greeting", "Say hello.", directory="desk")
    directory = acme.directory("desk")
    key = issue_key([organization], label="runtime", by=Actor.process("tests"), at=AT).key
    space = EmbeddingSpace.objects.create(
        key="tests", provider="tests", model="m", dimensions=2, chunker_version="1", status="active"
    )
    own: dict[str, Any] = {"organization": organization}
    with acme.context():
        picked = {**own, "agent": agent}
        run = ImportRun.objects.create(**own, label="import", source=acme.source())
        note(
            organization.pk,
            Change("item.add", "item", str(item), {}, {}),
            by=Actor.process("t"),
            at=AT,
        )
        return {
            "user": User.objects.get(username="viewer"),
            "organization": organization,
            "membership": Membership.objects.get(user__username="viewer"),
            "contact": contact,
            "servicekeybinding": ServiceKeyBinding.objects.get(key=key),
            "auditentry": organization.auditentry_set.first(),
            "segment": segment,
            "phoneagent": agent,
            "source": acme.source(),
            "instructiondirectory": InstructionDirectory.objects.get(pk=directory),
            "instruction": Instruction.objects.get(pk=instruction),
            "item": Item.objects.get(pk=item),
            "indexstate": IndexState.objects.get(asset_id=item),
            "importrun": run,
            "sourceschedule": SourceSchedule.objects.create(
                **own, source=acme.source(), kind="site", config={"start": "https://example.com/"}
            ),
            "usageentry": UsageEntry.objects.create(
                **own, day=AT.date(), provider="tests", model="m", texts=1, tokens=9, calls=1
            ),
            "importfailure": ImportFailure.objects.create(
                **own, run=run, path="a.md", code="unreadable", reason="It is empty."
            ),
            "bulkjob": BulkJob.objects.create(
                **own, action="delete", label="Delete", actor_label="t", status="done", started_at=AT
            ),
            "searchrecord": SearchRecord.objects.create(
                **own, at=AT, agent=agent, status="ok", queries=["when do you open"],
                instruction_mode="all", knowledge_mode="all",
            ),
            "calibrationprofile": CalibrationProfile.objects.create(
                **own, space=space, version=1, cosine_deviation=0.1, fitted_at=AT
            ),
            "embeddingspace": space,
            "voicesession": VoiceSession.objects.create(
                **picked, kid=key.kid, channel="phone", expires_at=AT
            ),
            "agentscope": agent.scopes.first(),
            "instructionpick": InstructionPick.objects.create(**picked, instruction_id=instruction),
            "directorypick": DirectoryPick.objects.create(**picked, directory_id=directory),
            "itempick": ItemPick.objects.create(**picked, item_id=item),
            "folderpick": FolderPick.objects.create(**picked, folder_key="help/public"),
        }  # fmt: skip
