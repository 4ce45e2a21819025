"""Two people at once in one organization: what may not cross waits, a caller does not."""

from __future__ import annotations

import threading

import pytest

from knowledge.indexing.filing import DirectoryGone, DirectoryRefused, file_directory
from knowledge.models import InstructionDirectory, SearchRecord
from scopes.errors import PickRefused
from scopes.models import AgentScope
from tenants.locking import lock_organization
from tenants.models import Role
from tests.embedders import CountingEmbedder
from tests.meanwhile import committed_while_waited_for, meanwhile
from tests.staff import browser, person, posted
from tests.voice import runtime
from tests.world import AT, tenant, world

pytestmark = pytest.mark.django_db(transaction=True)


def released_soon(over):
    timer = threading.Timer(0.3, over.set)
    timer.start()
    return timer


def file_under(acme, directory, parent):
    row = InstructionDirectory.objects.get(pk=directory)
    above = InstructionDirectory.objects.get(pk=parent)
    file_directory(row, name=row.name, parent=above, at=AT)


def test_two_moves_at_once_make_no_circle():
    acme = tenant("acme")
    first, second = acme.directory("first"), acme.directory("second")
    number = acme.organization.pk
    with acme.context():
        row = InstructionDirectory.objects.get(pk=second)
        above = InstructionDirectory.objects.get(pk=first)
    with meanwhile(number, lambda: file_under(acme, first, second)) as over:
        released_soon(over)
        with acme.context(), pytest.raises(DirectoryRefused):
            file_directory(row, name="second", parent=above, at=AT)


def test_the_admins_form_makes_no_circle_either():
    acme = tenant("acme")
    first, second = acme.directory("first"), acme.directory("second")
    page = f"/admin/knowledge/instructiondirectory/{second}/change/"
    editor = browser(person("editor", (acme.organization, Role.EDITOR)))
    sent = {**posted(editor, page), "parent": str(first)}
    with meanwhile(acme.organization.pk, lambda: file_under(acme, first, second)) as over:
        released_soon(over)
        answer = editor.post(page, sent)
    assert answer.status_code == 200
    assert "cannot lie inside itself" in answer.content.decode()


def test_a_rename_brings_nothing_back_that_was_deleted_meanwhile():
    acme = tenant("acme")
    place = acme.directory("first")

    def delete():
        lock_organization(acme.organization.pk)
        InstructionDirectory.objects.filter(pk=place).update(deleted_at=AT)

    with acme.context():
        row = InstructionDirectory.objects.get(pk=place)
    with meanwhile(acme.organization.pk, delete) as over:
        released_soon(over)
        with acme.context(), pytest.raises(DirectoryGone):
            file_directory(row, name="renamed", parent=None, at=AT)
    with acme.context():
        assert InstructionDirectory.every.get(pk=place).deleted_at == AT


def test_a_search_is_answered_and_recorded_while_a_tree_is_moved(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)
    here = world()
    number = here.acme.organization.pk
    voice = runtime(here.acme.organization)
    with meanwhile(number, lambda: lock_organization(number)) as over:
        session = voice.session(here.receptionist)
        answer = voice.search(here.receptionist, session, "When does the pelican lounge open?")
        assert not over.is_set()
    assert answer.status_code == 200
    with here.acme.context():
        assert SearchRecord.objects.filter(session_id=session).exists()


def test_a_directory_that_is_deleted_meanwhile_cannot_be_selected():
    acme = tenant("acme")
    agent, place = acme.agent(), acme.directory("desk")
    number = acme.organization.pk

    def delete():
        lock_organization(number)
        InstructionDirectory.objects.filter(pk=place).delete()

    with committed_while_waited_for(number, delete), pytest.raises(PickRefused):
        acme.pick(agent, "instruction", containers=[place])
    with acme.context():
        assert AgentScope.objects.get(agent=agent, category="instruction").mode == "all"
