from __future__ import annotations

import json
import zipfile
from contextlib import contextmanager
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.db.models import ForeignKey

from config.moving.carrying import bring_in, export
from config.moving.errors import FileRefused, SlugTaken
from config.moving.tables import CREDENTIALS, DERIVED, moved_models, tenant_models
from golden.acting import Act
from golden.content import Content
from golden.drafting import create_answer, save_draft
from golden.models import GoldenAnswer
from golden.publishing import override_publish
from knowledge.canaries import WORDS, canaries_shown
from scopes.probing import look_at
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import AuditEntry, Organization, ServiceKey, User
from tests.embedders import CountingEmbedder
from tests.staff import office, person
from tests.voice import runtime
from tests.world import AT

both = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
QUESTION = "When does the pelican lounge open?"


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    made = CountingEmbedder()
    for module in ("scopes.asking", "config.management.commands.organization"):
        monkeypatch.setattr(f"{module}.current_embedder", lambda: made)


@pytest.fixture
def acme():
    """Everything that an organization may have: content, people, a call, an answer in two versions."""
    made = office().acme
    author, approver = person("author", (made.organization, "author")), Actor.process("tests")
    answer = create_answer(made.organization, Content("Where is the desk?", "Here."), act(author))
    override_publish(made.organization.pk, answer.pk, Act(approver, AT, "Now."))
    later = Content("Where is the desk?", "On the second floor.")
    save_draft(made.organization.pk, answer.pk, later, act(author), lock_version=version_of(answer))
    override_publish(made.organization.pk, answer.pk, Act(approver, AT, "Again."))
    look_at(made.organization, at=AT)
    return made


def act(user):
    return Act(Actor.person(user), AT, "")


def version_of(answer):
    with organization_context(answer.organization_id):
        return GoldenAnswer.objects.get(pk=answer.pk).lock_version


def heard(organization, agent_slug="front-desk"):
    voice = runtime(organization)
    with organization_context(organization.pk):
        agent = organization.phoneagent_set.get(slug=agent_slug)
    answer = voice.search(agent, voice.session(agent), QUESTION).json()
    return answer["status"], [(r["id"], r["content"]) for r in answer["results"]]


def counts(organization_id):
    return {
        model._meta.label: model._default_manager.filter(organization_id=organization_id).count()
        for model in tenant_models()
    }


def rows(organization_id):
    with organization_context(organization_id):
        return counts(organization_id)


@contextmanager
def canaries_shown_in(organization_id):
    with organization_context(organization_id), canaries_shown():
        yield


@pytest.mark.django_db
def test_every_table_of_an_organization_travels_or_is_left_behind_by_name():
    labels = {model._meta.label for model in tenant_models()}
    assert labels >= DERIVED | CREDENTIALS
    moved = {model._meta.label for model in moved_models()}
    assert moved == labels - DERIVED - CREDENTIALS
    with_column = {
        model._meta.label for model in apps.get_models()
        if any(field.column == "organization_id" for field in model._meta.concrete_fields)
    }  # fmt: skip
    assert with_column == labels


@pytest.mark.django_db
def test_what_travels_refers_only_to_people_and_to_what_travels():
    moved = moved_models()
    for model in moved:
        for field in model._meta.concrete_fields:
            if isinstance(field, ForeignKey):
                assert field.remote_field.model in {*moved, User, Organization}, str(field)


@both
def test_an_organization_moves_out_completely_and_in_elsewhere(acme, tmp_path):
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    was_heard, before = heard(acme.organization), rows(acme.organization.pk)
    others = Organization.objects.get(slug="globex")
    theirs = rows(others.pk)
    told = StringIO()
    call_command("organization", "export", "acme", str(first), stdout=told)
    call_command("organization", "remove", "acme", "--confirm", "acme", stdout=told)
    assert not Organization.objects.filter(slug="acme").exists()
    with canaries_shown_in(acme.organization.pk):
        assert set(counts(acme.organization.pk).values()) == {0}
    assert rows(others.pk) == theirs
    assert ServiceKey.objects.count() == 0
    # Elsewhere nobody knows its people.
    User.objects.filter(username="author").update(username="gone")
    call_command("organization", "import", str(first), "--slug", "acme-here", stdout=told)
    here = Organization.objects.get(slug="acme-here")
    left_behind = DERIVED | CREDENTIALS
    now = rows(here.pk)
    assert {k: v for k, v in now.items() if k not in left_behind} == {
        k: v for k, v in before.items() if k not in left_behind
    }
    assert now["tenants.AuditEntry"] > 5
    assert now["golden.AnswerVersion"] >= 3
    assert not User.objects.get(username="author").has_usable_password()
    call_command("organization", "export", "acme-here", str(second), stdout=told)
    assert contents(first) == contents(second)
    assert heard(here) == was_heard


def contents(path):
    with zipfile.ZipFile(path) as file:
        listed = json.loads(file.read("manifest.json"))
        listed["organization"].pop("slug")
        return listed, [file.read(name) for name in file.namelist() if name != "manifest.json"]


@both
def test_a_file_is_brought_in_whole_or_not_at_all(acme, tmp_path):
    path, damaged = tmp_path / "acme.zip", tmp_path / "damaged.zip"
    export("acme", path)
    with pytest.raises(SlugTaken):
        bring_in(path)
    with pytest.raises(FileRefused, match="here already"):
        bring_in(path, slug="second")
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(damaged, "w") as broken:
        for name in whole.namelist():
            content = whole.read(name)
            if name == "knowledge_item.jsonl":
                content = content.replace(b"pelican", b"penguin")
            broken.writestr(name, content)
    call_command("organization", "remove", "acme", "--confirm", "acme", stdout=StringIO())
    with pytest.raises(FileRefused, match="not as it was written"):
        bring_in(damaged)
    assert not Organization.objects.filter(slug__in=["acme", "second"]).exists()


@pytest.mark.django_db
def test_a_file_of_another_release_is_refused(acme, tmp_path, monkeypatch):
    path = tmp_path / "acme.zip"
    monkeypatch.setattr("config.moving.carrying.schema", lambda: ["knowledge.0001_initial"])
    export("acme", path)
    monkeypatch.undo()
    with pytest.raises(FileRefused, match="same release"):
        bring_in(path, slug="second")


@pytest.mark.django_db
def test_no_secret_and_no_canary_lies_in_the_file(acme, tmp_path):
    path = tmp_path / "acme.zip"
    export("acme", path)
    with zipfile.ZipFile(path) as file:
        text = b"".join(file.read(name) for name in file.namelist()).decode()
    assert WORDS not in text
    assert "password" not in text
    assert "secret_sha256" not in text
    assert "globex" not in text.lower()


@pytest.mark.django_db
def test_removing_wants_the_name_twice(acme):
    with pytest.raises(CommandError, match="same organization"):
        call_command("organization", "remove", "acme", "--confirm", "globex")
    with pytest.raises(CommandError, match="no organization"):
        call_command("organization", "export", "nobody", "file.zip")


@pytest.mark.django_db
def test_the_application_may_not_delete_history_whatever_it_says(acme):
    with pytest.raises(DatabaseError):
        delete_history(acme)


def delete_history(acme):
    with acme.context(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('app.removing', %s, true)", [str(acme.organization.pk)])
        AuditEntry.objects.filter(organization=acme.organization).delete()
