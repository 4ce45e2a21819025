"""What the REST API's document says is what it takes: no number for an id, no instant without a calendar."""

from __future__ import annotations

import pytest

from config.api_schema import document
from knowledge.folders import LONGEST_DIRECTORY
from knowledge.models import InstructionDirectory
from tests.rest_world import METHODS, Office, offices

pytestmark = pytest.mark.django_db
ITEM = {"source": "help", "external_id": "heron", "title": "The heron", "body": "It stands."}
ANSWER = {"question": "Where is the heron?", "answer": "In the pond."}


@pytest.fixture
def acme() -> Office:
    return offices()[0]


def fields(answer):
    assert answer.status_code == 400, answer.content
    return answer.json()["error"]["fields"]


@pytest.mark.parametrize("instant", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_an_instant_that_no_calendar_in_utc_has_is_refused(acme, instant):
    """The database would keep it, and nobody could read the row any more."""
    assert "valid_until" in fields(acme.caller.post("items", ITEM | {"valid_until": instant}))
    said = {"title": "x", "body": "y", "external_id": "z", "valid_from": instant}
    assert "valid_from" in fields(acme.caller.post("instructions", said))
    assert "valid_from" in fields(
        acme.caller.post("golden-answers", ANSWER | {"valid_from": instant})
    )


def test_an_instant_without_an_offset_is_refused_everywhere(acme):
    said = {"valid_from": "2026-01-31T09:00:00"}
    assert "valid_from" in fields(acme.caller.post("items", ITEM | said))
    assert "valid_from" in fields(acme.caller.post("golden-answers", ANSWER | said))


def test_a_number_is_no_id_and_a_text_no_number(acme):
    seen = {"id": 7, "version": "1"}
    told = fields(acme.caller.post("jobs", {"action": "publish", "items": [seen]}))
    assert {"items.0.id", "items.0.version"} <= told.keys()
    ends = {"folder": "help/pelican", "expected": "3"}
    assert "expected" in fields(acme.caller.post("folders/lift", ends))
    path = f"agents/{acme.ids['agents']}/scope/knowledge"
    assert "items.0" in fields(acme.caller.call("PUT", path, {"items": [7]}, If_Match='"1"'))


def test_a_row_that_is_nothing_is_refused_alone(acme):
    rows = [None, {n: v for n, v in ITEM.items() if n != "source"}]
    told = acme.caller.post("items/bulk", {"source": "help", "rows": rows}).json()["results"]
    assert [one["outcome"] for one in told] == ["refused", "created"]


@pytest.mark.parametrize("kind", ["sources", "directories", "items", "instructions"])
def test_a_change_that_says_nothing_changes_nothing(acme, kind):
    address = f"{kind}/{acme.ids[kind]}"
    before = acme.caller.get(address)
    after = acme.caller.patch(address, {}, If_Match=before["ETag"])
    assert (after.status_code, after.json(), after["ETag"]) == (
        200, before.json(), before["ETag"],
    )  # fmt: skip


def test_deleted_is_true_or_false(acme):
    for kind in ("items", "instructions"):
        assert "deleted" in fields(acme.caller.get(f"{kind}?deleted=yes"))
        assert acme.caller.get(f"{kind}?deleted=false").status_code == 200


@pytest.mark.parametrize("key", ["", "é", "\x7f", "x" * 201])
def test_an_idempotency_key_is_printable_ascii(acme, key):
    assert "Idempotency-Key" in fields(acme.caller.post("items", ITEM, Idempotency_Key=key))


def test_a_directory_has_no_longer_name_than_its_column_holds(acme):
    assert InstructionDirectory._meta.get_field("name").max_length == LONGEST_DIRECTORY
    row = {"external_id": "heron", "title": "Herons", "body": "Be patient."}
    for length, status in ((LONGEST_DIRECTORY, 201), (LONGEST_DIRECTORY + 1, 422)):
        path = "calls/" + "x" * length
        assert acme.caller.post("directories", {"path": path}).status_code == status
        pushed = acme.caller.post("instructions", row | {"directory": path})
        assert pushed.status_code == status
        text = f"---\nexternal_id: a-{length}\ntitle: A\ndirectory: {path}\n---\nBody.\n"
        sent = {"files": [{"path": "a.md", "text": text}]}
        told = acme.caller.post("instructions/files", sent).json()["results"][0]
        assert told["outcome"] == ("created" if status == 201 else "refused")


def test_every_operation_names_what_it_refuses():
    for methods in document()["paths"].values():
        for method in set(METHODS) & methods.keys():
            named = methods[method]["responses"].keys()
            assert {"400", "401", "403", "404", "503"} <= named
            assert "requestBody" not in methods[method] or {"413", "415"} <= named


def test_every_link_leads_to_an_operation_with_parameters_that_it_has():
    operations = {
        one["operationId"]: {f"{p['in']}.{p['name']}" for p in one.get("parameters", ())}
        for methods in document()["paths"].values()
        for one in methods.values()
    }
    linked = set()
    for methods in document()["paths"].values():
        for one in methods.values():
            for response in one["responses"].values():
                for link in response.get("links", {}).values():
                    assert link["parameters"].keys() <= operations[link["operationId"]]
                    linked.add(link["operationId"])
    needs_an_id = {name for name, known in operations.items() if "path.id" in known}
    assert needs_an_id - linked == {"scope_read"}, "Nothing tells the id of an agent."
