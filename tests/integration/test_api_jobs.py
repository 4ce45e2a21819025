"""Folders and work on many items through the REST API."""

from __future__ import annotations

import uuid

import pytest

from knowledge.models import BulkJob
from knowledge.shelving.working import work_waiting
from tests.people import offices
from tests.shelves import filed, says
from tests.world import AT

pytestmark = pytest.mark.django_db
NOTHING = b'{"error":{"code":"not_found","message":"There is nothing here.","fields":{}}}'


@pytest.fixture
def at_work():
    made = offices()
    made.acme.item("Hours", "The pelican lounge opens at seven.", folder="public/hours")
    made.acme.item("Prices", "A flamingo ticket costs forty.", folder="public")
    return made


@pytest.fixture
def hours(at_work):
    return at_work.acme.item("Ramadan", "The pelican lounge opens at nine.", folder="public/hours")


def begun(at_work, **said):
    return at_work.editor.post("jobs", said)


def code(answer):
    return answer.json()["error"]["code"]


def test_a_folder_is_moved_and_lifted(at_work):
    answer = at_work.editor.post("folders/move", {"folder": "help/public/hours", "to": "help/open"})
    assert (answer.status_code, answer.json()) == (200, {"folder": "help/open", "items": 1})
    answer = at_work.editor.post("folders/lift", {"folder": "help/open", "expected": 1})
    assert answer.json() == {"folder": "help", "items": 1}
    assert filed(at_work.acme)["Hours"] == "help"


def test_a_folder_is_deleted_by_a_job_that_is_followed_and_undone(at_work):
    agent = at_work.acme.agent()
    answer = at_work.editor.post("folders/delete", {"folder": "help/public/hours"})
    assert answer.status_code == 202
    job = f"jobs/{answer.json()['id']}"
    assert at_work.viewer.get(job).json()["status"] == "running"
    work_waiting(clock=lambda: AT)
    assert at_work.viewer.get(job).json()["done"] == 1
    assert says(at_work.acme, agent, "pelican") == set()
    undone = at_work.editor.post(f"{job}/undo")
    assert (undone.status_code, undone.json()["undoes"]) == (202, answer.json()["id"])
    work_waiting(clock=lambda: AT)
    assert says(at_work.acme, agent, "pelican") == {"Hours"}
    assert code(at_work.editor.post(f"{job}/undo")) == "cannot_undo"


@pytest.mark.parametrize(
    ("path", "said", "status", "expected"),
    [
        (
            "move",
            {"folder": "help/public/hours", "to": "help/public/hours/x"},
            422,
            "folder_refused",
        ),
        ("move", {"folder": "help/public/hours", "to": "help/other"}, 409, "folder_in_use"),
        ("move", {"folder": "help/nowhere", "to": "help/x"}, 404, "folder_gone"),
        ("move", {"folder": "help/..", "to": "help/x"}, 422, "folder_refused"),
        ("move", {"folder": "nowhere/x", "to": "help/x"}, 404, "not_found"),
        ("lift", {"folder": "help/public/hours", "expected": 7}, 409, "folder_changed"),
        ("delete", {"folder": "help/public/hours", "expected": 7}, 409, "folder_changed"),
        ("delete", {"folder": "help", "more": 1}, 400, "invalid_request"),
    ],
)
def test_a_folder_that_cannot_be_done_to_is_refused_with_its_reason(
    at_work, path, said, status, expected
):
    at_work.acme.item("Other", folder="other")
    answer = at_work.editor.post(f"folders/{path}", said)
    assert (answer.status_code, code(answer)) == (status, expected)
    assert filed(at_work.acme)["Hours"] == "help/public/hours"


def test_items_named_one_by_one_have_an_outcome_each(at_work, hours):
    items = [{"id": str(hours), "version": 1}, {"id": str(uuid.uuid4()), "version": 1}]
    answer = begun(at_work, action="move", items=items, target="help/archive")
    assert answer.json()["total"] == 1
    work_waiting(clock=lambda: AT)
    told = at_work.viewer.get(f"jobs/{answer.json()['id']}/items").json()["results"]
    assert told == [{"item": str(hours), "outcome": "done", "code": ""}]
    assert filed(at_work.acme)["Ramadan"] == "help/archive"


def test_an_old_version_is_refused(at_work, hours):
    answer = begun(at_work, action="delete", items=[{"id": str(hours), "version": 9}])
    work_waiting(clock=lambda: AT)
    told = at_work.viewer.get(f"jobs/{answer.json()['id']}/items").json()["results"]
    assert told[0]["code"] == "item_changed"


def test_a_whole_folder_is_unpublished_and_a_job_is_cancelled(at_work, hours):
    answer = begun(at_work, action="unpublish", folder="help/public")
    assert answer.json()["total"] == 3
    cancelled = at_work.editor.post(f"jobs/{answer.json()['id']}/cancel")
    assert cancelled.json()["status"] == "cancelled"
    assert at_work.editor.get("jobs").json()["results"][0]["id"] == answer.json()["id"]


@pytest.mark.parametrize(
    "said",
    [
        {"action": "delete"},
        {"action": "delete", "folder": "help", "items": []},
        {"action": "move", "folder": "help"},
        {"action": "delete", "folder": "help", "target": "help/x"},
        {"action": "undo", "folder": "help"},
        {"action": "delete", "items": [{"id": "x", "version": 1}]},
    ],
)
def test_a_job_that_says_too_little_or_too_much_is_refused(at_work, said):
    assert code(begun(at_work, **said)) == "invalid_request"


def test_a_repeated_key_begins_one_job(at_work, hours):
    said = {"action": "delete", "items": [{"id": str(hours), "version": 1}]}
    first, second = (
        at_work.editor.post("jobs", said, Idempotency_Key="k1").json() for _ in range(2)
    )
    assert first == second
    with at_work.acme.context():
        assert BulkJob.objects.count() == 1


def test_a_viewer_only_looks(at_work, hours):
    for path, said in (
        ("folders/move", {"folder": "help/public", "to": "help/x"}),
        ("folders/lift", {"folder": "help/public"}),
        ("folders/delete", {"folder": "help/public"}),
        ("jobs", {"action": "delete", "folder": "help"}),
    ):
        assert at_work.viewer.post(path, said).status_code == 403
    job = begun(at_work, action="delete", folder="help").json()["id"]
    for verb in ("cancel", "undo"):
        assert at_work.viewer.post(f"jobs/{job}/{verb}").status_code == 403


def test_nothing_here_is_one_answer_byte_for_byte(at_work, hours):
    job = begun(at_work, action="delete", folder="help").json()["id"]
    for pk in (job, str(uuid.uuid4()), "x"):
        for path in (f"jobs/{pk}", f"jobs/{pk}/items"):
            assert at_work.rival.get(path).content == NOTHING
        for path in (f"jobs/{pk}/cancel", f"jobs/{pk}/undo"):
            assert at_work.rival.post(path).content == NOTHING
    answer = at_work.rival.post("folders/delete", {"folder": "help/public"})
    assert (answer.status_code, answer.content) == (404, NOTHING)
