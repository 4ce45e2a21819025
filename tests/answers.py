"""People who write, approve and publish golden answers, and the verbs as they call them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from golden import drafting, publishing
from golden.acting import Act
from golden.content import Content
from golden.models import AnswerVersion, GoldenAnswer
from knowledge.models import IndexState
from knowledge.retrieval.pipeline import retrieve
from scopes.resolution import allowlist_for
from tenants.auditing import Actor
from tenants.models import Membership, User
from tests.planting import asked
from tests.world import AT, tenant

CONTENT = Content(
    question="Where is the toucan desk?",
    answer="The toucan desk is on the second floor.",
    paraphrases=("Toucan desk location", "How do I find the toucan desk?"),
    folder="desks",
)


class Staff:
    """An organization with one person for each role."""

    def __init__(self, slug: str = "acme") -> None:
        self.tenant = tenant(slug)
        self.organization = self.tenant.organization
        self.people: dict[str, Actor] = {}
        for role in ("viewer", "author", "approver", "publisher"):
            user = User.objects.create_user(f"{slug}-{role}", is_staff=True)
            Membership.objects.create(user=user, organization=self.organization, role=role)
            self.people[role] = Actor.person(user)
        self.agent = self.tenant.agent()

    def act(self, role: str, reason: str = "", *, at: datetime = AT) -> Act:
        return Act(self.people[role], at, reason)

    def write(self, content: Content = CONTENT, **options: Any) -> UUID:
        return drafting.create_answer(self.organization, content, self.act("author"), **options).pk

    def edit(self, pk: UUID, content: Content, role: str = "author") -> GoldenAnswer:
        return drafting.save_draft(
            self.organization.pk,
            pk,
            content,
            self.act(role),
            lock_version=self.row(pk).lock_version,
        )

    def request(self, pk: UUID) -> UUID:
        return publishing.request_publish(self.organization.pk, pk, self.act("author")).pk

    def approve(self, request: UUID, role: str = "approver") -> GoldenAnswer:
        return publishing.approve(self.organization.pk, request, self.act(role))

    def publish(self, pk: UUID) -> GoldenAnswer:
        return self.approve(self.request(pk))

    def published(self, content: Content = CONTENT, **options: Any) -> UUID:
        pk = self.write(content, **options)
        self.publish(pk)
        return pk

    def roll_back(self, pk: UUID, version: UUID) -> GoldenAnswer:
        return publishing.roll_back(self.organization.pk, pk, version, self.act("publisher"))

    def archive(self, pk: UUID) -> GoldenAnswer:
        return publishing.archive(self.organization.pk, pk, self.act("publisher"))

    def restore(self, pk: UUID) -> GoldenAnswer:
        return publishing.restore(self.organization.pk, pk, self.act("publisher"))

    def row(self, pk: UUID) -> GoldenAnswer:
        with self.tenant.context():
            return GoldenAnswer.objects.get(pk=pk)

    def versions(self, pk: UUID) -> list[AnswerVersion]:
        with self.tenant.context():
            return list(AnswerVersion.objects.filter(golden=pk))

    def index_state(self, pk: UUID) -> IndexState:
        with self.tenant.context():
            return IndexState.objects.get(asset_id=str(self.row(pk).item_id))

    def allowlist(self, **caller: Any):
        facts: dict[str, Any] = {"contact": None, "channel": "phone", "country": None, "at": AT}
        return allowlist_for(self.agent, **facts | caller)

    def heard(self, *texts: str, **caller: Any) -> list[tuple[str, str]]:
        with self.tenant.context():
            question = asked(self.organization.pk, texts or ["toucan desk"], None)
            answer = retrieve(question, self.allowlist(**caller), limit=5)
        return [(result.type, result.content) for result in answer.results]
