"""Whatever somebody is in the middle of, callers of the organization are answered and remembered.

Every verb of staff writes into the audit trail; a trigger stops it there, with all that it has locked.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from golden.acting import Act
from golden.content import Content
from golden.drafting import create_answer
from golden.publishing import override_publish
from knowledge.editor.clearing import contents_of, delete_everything
from knowledge.editor.holding import Hand
from knowledge.editor.placing import directory_at, file_elsewhere, move_instruction
from knowledge.editor.publishing import delete
from knowledge.folders import folder_key
from knowledge.models import SearchRecord
from knowledge.shelving.folders import delete_folder, move_folder
from scopes.models import AgentScope
from scopes.selecting import Picks, select
from tenants.auditing import Actor
from tenants.keys import issue_key, revoke_key
from tenants.models import Role
from tenants.people.members import remove, set_roles
from tests.embedders import CountingEmbedder
from tests.staff import person
from tests.voice import runtime
from tests.world import AT, BY, world
from voiceapi.retention import forget_contact

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
PATIENCE_S = 30
GATE = 471_100
HAND = Hand(BY, AT)
PUBLIC = folder_key("help", "public")
STOP = f"""
CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_advisory_xact_lock_shared({GATE}); RETURN NULL; END $$;
CREATE TRIGGER stop AFTER INSERT ON tenants_auditentry FOR EACH ROW EXECUTE FUNCTION stop_here();
"""
GO = "DROP TRIGGER stop ON tenants_auditentry; DROP FUNCTION stop_here();"
STANDS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = %s"


class Bench:
    """An organization with something of everything that staff change."""

    def __init__(self):
        self.here = world()
        self.acme = self.here.acme
        self.number = self.acme.organization.pk
        self.agent = self.here.receptionist
        self.voice = runtime(self.acme.organization)
        self.inside, self.tree = self.acme.directory("around/inside"), self.acme.directory("tree")
        self.text = self.acme.instruction("Greeting", directory="tree")
        self.caller = self.acme.contact("crm-1", self.acme.segment("gold"))
        self.admin = person("admin", (self.acme.organization, Role.ADMIN))
        self.author = person("author", (self.acme.organization, Role.AUTHOR))
        # It has ended, so that its slot is free for another one.
        ended = {"at": AT, "expires_at": AT + timedelta(days=1)}
        self.spare = issue_key([self.acme.organization], label="spare", by=BY, **ended)
        content = Content(question="Is tea free?", answer="Tea is free at noon.")
        self.act = Act(Actor.process("tests"), AT, "Because.")
        self.golden = create_answer(self.acme.organization, content, self.act)

    def move_tree(self):
        told: dict[str, Any] = {"name": "tree", "parent_id": self.inside, "seen": "/tree"}
        file_elsewhere(self.number, self.tree, HAND, **told)

    def delete_tree(self):
        with self.acme.context():
            directory = directory_at(self.number, self.tree)
            assert directory is not None
            seen = contents_of(directory).seen
        delete_everything(self.number, self.tree, HAND, seen=seen)

    def move_text(self):
        move_instruction(self.number, self.text, self.inside, HAND)

    def delete_text(self):
        delete(self.number, self.text, HAND)

    def move_folder(self):
        with self.acme.context():
            move_folder(self.number, PUBLIC, folder_key("help", "open"), by=BY, at=AT)

    def delete_folder(self):
        with self.acme.context():
            delete_folder(self.number, PUBLIC, by=BY, at=AT)

    def select(self):
        with self.acme.context():
            scope = AgentScope.objects.get(agent=self.agent, category="instruction")
        picks = Picks(frozenset([self.text]), frozenset())
        select(self.agent, "instruction", picks, version=scope.version, by=BY, at=AT)

    def select_folder(self):
        with self.acme.context():
            scope = AgentScope.objects.get(agent=self.agent, category="knowledge")
        picks = Picks(containers=frozenset(["help/public/hours", "help/public/prices"]))
        select(self.agent, "knowledge", picks, version=scope.version, by=BY, at=AT)

    def publish(self):
        override_publish(self.number, self.golden.pk, self.act)

    def issue_key(self):
        issue_key([self.acme.organization], label="new", by=BY, at=timezone.now())

    def revoke_key(self):
        revoke_key(self.spare.key, by=BY, at=timezone.now())

    def set_roles(self):
        set_roles(self.number, self.author.pk, [Role.EDITOR], by=BY, at=AT)

    def let_go(self):
        remove(self.number, self.author.pk, by=BY, at=AT)

    def forget(self):
        forget_contact(self.caller, by=BY, at=AT)


VERBS = sorted(name for name, verb in vars(Bench).items() if callable(verb) and name[0] != "_")


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)
    return Bench()


@contextmanager
def in_the_middle_of(verb):
    """Let somebody do it up to its entry in the audit trail, and no further until the block ends."""
    failures = []

    def other():
        try:
            verb()
        except Exception as failure:
            failures.append(failure)
        finally:
            connections.close_all()

    thread = threading.Thread(target=other)
    with connections["owner"].cursor() as owner:
        owner.execute("SELECT pg_advisory_lock(%s)", [GATE])
        owner.execute(STOP)
        try:
            thread.start()
            stands = _stands(owner, thread)
            yield
        finally:
            owner.execute("SELECT pg_advisory_unlock(%s)", [GATE])
            thread.join(PATIENCE_S)
            owner.execute(GO)
    assert failures == []
    assert stands, "The verb wrote nothing into the audit trail."


def _stands(owner, thread):
    until = time.monotonic() + PATIENCE_S
    while thread.is_alive() and time.monotonic() < until:
        owner.execute(STANDS, [GATE])
        if owner.fetchone()[0]:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("name", VERBS)
def test_a_caller_is_answered_in_the_middle_of(bench, name):
    with in_the_middle_of(getattr(bench, name)):
        session = bench.voice.session(bench.agent)
        answer = bench.voice.search(bench.agent, session, "When does the pelican lounge open?")
    assert answer.status_code == 200, answer.content
    assert answer.json()["degraded"] == []
    with bench.acme.context():
        assert SearchRecord.objects.filter(session_id=session).count() == 1
