"""The scope of an agent over the REST API."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from tenants.models import Role
from tenants.tokens import issue_token
from tests.people import Program, member, offices
from tests.scope_pages import desk
from tests.world import AT, BY, Tenant

pytestmark = pytest.mark.django_db


@dataclass
class Work:
    acme: Tenant
    globex: Tenant
    editor: Program
    viewer: Program
    rival: Program
    admin: Program
    path: str


@pytest.fixture
def at_work():
    made = offices()
    chief = member(made.acme, "chief", Role.ADMIN)
    admin = Program(issue_token(made.acme.organization, chief, label="t", by=BY, at=AT).token)
    path = f"agents/{made.acme.agent().pk}/scope"
    return Work(made.acme, made.globex, made.editor, made.viewer, made.rival, admin, path)


def put(at_work, picks, *, root="knowledge", who=None, tag=None):
    tag = tag or at_work.viewer.get(f"{at_work.path}/{root}")["ETag"]
    program = who or at_work.admin
    return program.call("PUT", f"{at_work.path}/{root}", picks, If_Match=tag)


def test_explicit_picks_are_told_apart_from_what_they_come_to(at_work):
    item = at_work.acme.item("One", folder="a")
    assert at_work.viewer.get(at_work.path).json()["knowledge"]["effective"] == {
        "mode": "all", "searchable": "all",
    }  # fmt: skip
    answer = put(at_work, {"items": [str(item)], "folders": ["help/empty"]})
    assert answer.status_code == 200, answer.content
    assert answer["ETag"] == '"2"'
    told = at_work.viewer.get(at_work.path).json()
    assert told["knowledge"]["picks"] == {"items": [str(item)], "folders": ["help/empty"]}
    assert told["knowledge"]["effective"] == {"mode": "selected", "searchable": "some"}
    assert told["instructions"]["version"] == 1
    at_work.acme.change_item(item, deleted_at="2026-01-01T00:00Z")
    told = at_work.viewer.get(f"{at_work.path}/knowledge").json()
    assert told["effective"] == {"mode": "selected", "searchable": "nothing"}
    assert told["picks"]["items"] == [str(item)]


def test_a_stale_version_is_refused_with_both_sides(at_work):
    one, two = at_work.acme.item("One"), at_work.acme.item("Two")
    put(at_work, {"items": [str(one)]})
    refused = put(at_work, {"items": [str(two)]}, tag='"1"')
    assert refused.status_code == 409
    sides = refused.json()["error"]["sides"]
    assert sides["yours"] == {"items": [str(two)]}
    assert sides["theirs"]["picks"]["items"] == [str(one)]
    assert sides["theirs"]["version"] == 2


def test_picks_taken_away_by_two_at_once_open_nothing(at_work):
    one, two = at_work.acme.item("One"), at_work.acme.item("Two")
    put(at_work, {"items": [str(one), str(two)]})
    seen = at_work.viewer.get(f"{at_work.path}/knowledge")["ETag"]
    put(at_work, {"items": [str(two)]}, tag=seen)
    assert put(at_work, {"items": [str(one)]}, tag=seen).status_code == 409
    cleared = at_work.admin.delete(f"{at_work.path}/knowledge", If_Match=seen)
    assert cleared.status_code == 409
    assert cleared.json()["error"]["sides"]["theirs"]["picks"]["items"] == [str(two)]


def test_a_change_without_a_version_is_refused(at_work):
    answer = at_work.admin.call("PUT", f"{at_work.path}/knowledge", {"folders": ["help"]})
    assert answer.status_code == 428


def test_what_is_not_there_or_belongs_to_others_is_refused_by_name(at_work):
    at_work.acme.source()
    theirs = at_work.globex.item("Secret", source="hidden")
    picks = {"items": [str(theirs)], "folders": ["hidden", "help", "help/../x"]}
    refused = put(at_work, picks)
    assert refused.status_code == 422
    assert refused.json()["error"]["fields"] == {
        "items": [str(theirs)], "folders": ["help/../x", "hidden"],
    }  # fmt: skip
    nowhere = str(uuid.uuid4())
    refused = put(at_work, {"directories": [nowhere]}, root="instructions")
    assert refused.status_code == 422
    assert refused.json()["error"]["fields"] == {"directories": [nowhere]}


def test_opening_again_is_an_act_of_its_own(at_work):
    at_work.acme.source()
    put(at_work, {"folders": ["help"]})
    assert put(at_work, {"folders": []}).status_code == 422
    tag = at_work.viewer.get(f"{at_work.path}/knowledge")["ETag"]
    cleared = at_work.admin.delete(f"{at_work.path}/knowledge", If_Match=tag)
    assert cleared.json()["effective"]["mode"] == "all"


def test_each_actor_is_told_what_their_role_allows(at_work):
    at_work.acme.source()
    picks = {"folders": ["help"]}
    statuses = {
        "nobody": (Program("none.none"), 401, 401),
        "rival": (at_work.rival, 404, 404),
        "viewer": (at_work.viewer, 200, 403),
        "editor": (at_work.editor, 200, 403),
        "admin": (at_work.admin, 200, 200),
    }
    for who, (program, read, write) in statuses.items():
        assert program.get(at_work.path).status_code == read, who
        assert put(at_work, picks, who=program).status_code == write, who


def test_foreign_and_missing_agents_are_the_same_answer(at_work):
    missing = at_work.rival.get(f"agents/{uuid.uuid4()}/scope")
    assert at_work.rival.get(at_work.path).content == missing.content
    assert at_work.rival.get("agents/nonsense/scope").content == missing.content


def test_a_browser_reads_by_session_and_changes_with_its_csrf_token():
    at_desk = desk()
    at_desk.acme.source()
    path = f"/api/v1/agents/{at_desk.agent.pk}/scope/knowledge"
    assert at_desk.viewer.get(path).json()["version"] == 1
    at_desk.admin.handler.enforce_csrf_checks = True
    sent: Any = {"data": '{"folders": ["help"]}', "content_type": "application/json"}
    refused = at_desk.admin.put(path, **sent, headers={"If-Match": '"1"'})
    assert refused.status_code == 403
    at_desk.admin.get(at_desk.url)
    token = at_desk.admin.cookies["csrftoken"].value
    done = at_desk.admin.put(path, **sent, headers={"If-Match": '"1"', "X-CSRFToken": token})
    assert done.status_code == 200
    assert at_desk.picked() == {"c:help"}


@pytest.mark.parametrize(
    "body",
    [{"items": "x"}, {"items": ["x"]}, {"folders": [1]}, {"other": []}, {"items": [None]}],
)
def test_a_body_that_is_not_as_the_document_says_is_refused(at_work, body):
    assert put(at_work, body).status_code == 400
