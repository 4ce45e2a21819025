"""Items, instructions and their places over the REST API."""

from __future__ import annotations

import json
import uuid

import pytest
from django.test import Client

from knowledge.models import Instruction, Item
from tenants.models import ApiToken, AuditEntry, Membership, Role, User
from tenants.tokens import revoke_token
from tests.people import member, offices
from tests.world import AT, BY

pytestmark = pytest.mark.django_db
ITEM = {"source": "help", "external_id": "a-1", "title": "Hours", "body": "We open at seven."}


@pytest.fixture
def at_work():
    made = offices()
    made.acme.source()
    made.globex.source()
    return made


def push(program, **said):
    answer = program.post("items", {**ITEM, **said})
    assert answer.status_code in {200, 201}, answer.content
    return answer


def code(answer):
    return answer.json()["error"]["code"]


def audited(of):
    with of.context():
        return list(AuditEntry.objects.filter(organization=of.organization).order_by("at", "verb").values_list("verb", flat=True))  # fmt: skip


def test_an_item_is_made_read_and_audited(at_work):
    made = push(at_work.editor, folder="cards", channels=["phone"], agents=[])
    assert made.status_code == 201
    read = at_work.viewer.get(f"items/{made.json()['id']}")
    assert read.json() == made.json()
    assert read.json()["folder"] == "cards"
    assert (read.json()["channels"], read.json()["agents"]) == (["phone"], [])
    assert read.json()["index"]["state"] == "pending"
    assert "item.push" in audited(at_work.acme)


def test_the_same_push_again_changes_nothing(at_work):
    first, again = push(at_work.editor), push(at_work.editor)
    assert again.status_code == 200
    assert again.json() == first.json()


def test_a_push_keeps_what_it_does_not_speak_of(at_work):
    push(at_work.editor, segments=[], jurisdictions=["DE"])
    changed = push(at_work.editor, title="Opening hours")
    assert changed.json()["title"] == "Opening hours"
    assert (changed.json()["segments"], changed.json()["jurisdictions"]) == ([], ["DE"])


def test_what_staff_deleted_is_not_pushed_back(at_work):
    made = push(at_work.editor)
    at_work.editor.delete(f"items/{made.json()['id']}", If_Match=made["ETag"])
    answer = at_work.editor.post("items", ITEM)
    assert (answer.status_code, code(answer)) == (409, "content_withdrawn")


def test_a_deleted_item_leaves_the_list_and_comes_back(at_work):
    made = push(at_work.editor)
    address = f"items/{made.json()['id']}"
    gone = at_work.editor.delete(address, If_Match=made["ETag"])
    assert at_work.viewer.get("items").json()["results"] == []
    assert len(at_work.viewer.get("items?deleted=true").json()["results"]) == 1
    back = at_work.editor.post(f"{address}/restore", If_Match=gone["ETag"])
    assert back.json()["deleted_at"] is None
    assert len(at_work.viewer.get("items").json()["results"]) == 1


def test_a_change_names_its_version(at_work):
    made = push(at_work.editor)
    address = f"items/{made.json()['id']}"
    missing = at_work.editor.patch(address, {"title": "Times"})
    assert (missing.status_code, code(missing)) == (428, "version_missing")
    assert (
        at_work.editor.patch(address, {"title": "Times"}, If_Match=made["ETag"]).status_code == 200
    )


def test_a_stale_change_is_shown_both_sides(at_work):
    made = push(at_work.editor)
    address = f"items/{made.json()['id']}"
    at_work.editor.patch(address, {"title": "Theirs"}, If_Match=made["ETag"])
    stale = at_work.editor.patch(address, {"title": "Mine"}, If_Match=made["ETag"])
    assert (stale.status_code, code(stale)) == (412, "version_changed")
    sides = stale.json()["error"]["sides"]
    assert (sides["yours"]["title"], sides["theirs"]["title"]) == ("Mine", "Theirs")


def test_a_push_may_name_its_version_too(at_work):
    made = push(at_work.editor)
    push(at_work.editor, title="Theirs")
    stale = at_work.editor.post("items", ITEM, If_Match=made["ETag"])
    assert stale.status_code == 412


def test_a_repeated_key_is_answered_the_same_and_done_once(at_work):
    first = at_work.editor.post("items", ITEM, Idempotency_Key="k1")
    push(at_work.editor, title="Meanwhile")
    again = at_work.editor.post("items", ITEM, Idempotency_Key="k1")
    assert (again.status_code, again.content, again["ETag"]) == (201, first.content, first["ETag"])
    assert again["Idempotency-Replayed"] == "true"
    assert at_work.viewer.get("items").json()["results"][0]["title"] == "Meanwhile"


def test_a_key_with_another_body_is_refused(at_work):
    at_work.editor.post("items", ITEM, Idempotency_Key="k1")
    other = at_work.editor.post("items", {**ITEM, "title": "Other"}, Idempotency_Key="k1")
    assert (other.status_code, code(other)) == (422, "idempotency_key_reused")


def test_what_was_refused_is_not_remembered(at_work):
    at_work.editor.post("items", {**ITEM, "source": "missing"}, Idempotency_Key="k1")
    assert at_work.editor.post("items", ITEM, Idempotency_Key="k1").status_code == 201


def test_nothing_here_is_one_answer_byte_for_byte(at_work):
    theirs = push(at_work.rival).json()["id"]
    addresses = (f"items/{theirs}", f"items/{uuid.uuid4()}", "items/none", "nowhere/at/all",
                 "items?organization=globex", f"instructions/{theirs}")  # fmt: skip
    answers = [at_work.editor.get(address) for address in addresses]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    change = at_work.editor.patch(f"items/{theirs}", {"title": "x"}, If_Match='"1"')
    assert (change.status_code, change.content) == (404, answers[0].content)
    pushed = at_work.editor.post("items", {**ITEM, "organization": "globex"})
    assert (pushed.status_code, pushed.content) == (404, answers[0].content)


def test_a_viewer_changes_nothing(at_work):
    made = push(at_work.editor)
    address = f"items/{made.json()['id']}"
    answers = [
        at_work.viewer.post("items", ITEM),
        at_work.viewer.patch(address, {"title": "x"}, If_Match=made["ETag"]),
        at_work.viewer.delete(address, If_Match=made["ETag"]),
        at_work.viewer.post("items/bulk", {"source": "help", "rows": [ITEM]}),
        at_work.viewer.post("sources", {"slug": "new", "name": "New"}),
    ]
    assert {(answer.status_code, code(answer)) for answer in answers} == {(403, "role_required")}


@pytest.mark.parametrize("kind", ["golden", "correction"])
def test_golden_answers_and_corrections_are_not_changed_here(at_work, kind):
    item = at_work.acme.item(kind, kind=kind, review_status="pending")
    read = at_work.editor.get(f"items/{item}")
    said = {"review_status": "approved"}
    answer = at_work.editor.patch(f"items/{item}", said, If_Match=read["ETag"])
    assert (answer.status_code, code(answer)) == (409, "changed_by_publishing")


@pytest.mark.parametrize(
    "raw",
    [b"[]", b'{"a":', b"\xff", b'{"title": "\\u0000"}', b'{"title": "\\ud800"}', b'{"a": NaN}',
     b'{"a":' * 5000],
)  # fmt: skip
def test_a_body_that_is_no_object_is_malformed(at_work, raw):
    answer = at_work.editor.post("items", raw)
    assert (answer.status_code, code(answer)) == (400, "malformed_body")


def test_an_unknown_field_is_named(at_work):
    answer = at_work.editor.post("items", {**ITEM, "colour": "red"})
    assert answer.status_code == 400
    assert answer.json()["error"]["fields"] == {"colour": ["Unknown field."]}


def test_bulk_tells_the_outcome_of_every_row(at_work):
    push(at_work.editor)
    same = {name: ITEM[name] for name in ("external_id", "title", "body")}
    rows = [same, {**same, "title": "New hours"}, {**same, "external_id": "a-2"},
            {"external_id": "a-3", "title": "no body"}, "nonsense",
            {**same, "external_id": "a-4", "folder": "../up"}]  # fmt: skip
    told = at_work.editor.post("items/bulk", {"source": "help", "rows": rows}).json()["results"]
    assert [row["outcome"] for row in told] == [
        "unchanged", "updated", "created", "refused", "refused", "refused",
    ]  # fmt: skip
    assert told[3]["error"]["fields"] == {"body": ["This field is required."]}
    assert told[5]["error"]["code"] == "folder_refused"
    with at_work.acme.context():
        assert Item.objects.filter(organization=at_work.acme.organization).count() == 2


def test_bulk_takes_500_rows_and_no_more(at_work):
    rows = [{"external_id": f"r{n}", "title": "t", "body": "b"} for n in range(501)]
    answer = at_work.editor.post("items/bulk", {"source": "help", "rows": rows})
    assert answer.status_code == 400
    assert list(answer.json()["error"]["fields"]) == ["rows"]


def test_pages_hold_every_row_once(at_work):
    for number in range(7):
        push(at_work.editor, external_id=f"p{number}", title=f"T{number % 2}")
    seen, address = [], "items?limit=2"
    while address:
        page = at_work.viewer.get(address).json()
        seen += [row["external_id"] for row in page["results"]]
        address = page["next"] and f"items?limit=2&cursor={page['next']}"
    assert len(seen) == 7
    assert set(seen) == {f"p{n}" for n in range(7)}


def test_a_cursor_of_ones_own_making_is_refused(at_work):
    answer = at_work.viewer.get("items?cursor=abc")
    assert (answer.status_code, code(answer)) == (400, "cursor_refused")


def test_items_are_listed_by_folder(at_work):
    push(at_work.editor, external_id="in", folder="cards/gold")
    push(at_work.editor, external_id="out", folder="cards-old")
    found = at_work.viewer.get("items?source=help&folder=cards").json()["results"]
    assert [row["external_id"] for row in found] == ["in"]


def test_an_instruction_goes_through_its_life(at_work):
    made = at_work.editor.post("instructions", {
        "external_id": "i-1", "title": "Greet", "body": "Say hello.", "directory": "desk/first",
        "status": "published",
    })  # fmt: skip
    assert made.status_code == 201
    address = f"instructions/{made.json()['id']}"
    changed = at_work.editor.patch(address, {"directory": ""}, If_Match=made["ETag"])
    assert (changed.json()["directory"], changed.json()["status"]) == ("", "published")
    gone = at_work.editor.delete(address, If_Match=changed["ETag"])
    assert gone.json()["deleted_at"]
    back = at_work.editor.post(f"{address}/restore", If_Match=gone["ETag"])
    assert back.json()["deleted_at"] is None
    with at_work.acme.context():
        assert Instruction.objects.get(external_id="i-1").directory is None


def test_a_source_is_made_renamed_and_deleted_while_empty(at_work):
    made = at_work.editor.post("sources", {"slug": "crm", "name": "CRM"})
    assert made.status_code == 201
    again = at_work.editor.post("sources", {"slug": "crm", "name": "CRM"})
    assert (again.status_code, code(again)) == (409, "name_taken")
    address = f"sources/{made.json()['id']}"
    named = at_work.editor.patch(address, {"name": "Our CRM"}, If_Match=made["ETag"])
    assert named.json()["name"] == "Our CRM"
    assert at_work.editor.delete(address, If_Match=made["ETag"]).status_code == 412
    assert at_work.editor.delete(address, If_Match=named["ETag"]).status_code == 204


def test_a_source_that_holds_something_stays(at_work):
    push(at_work.editor)
    found = at_work.editor.get("sources").json()["results"][0]
    read = at_work.editor.get(f"sources/{found['id']}")
    answer = at_work.editor.delete(f"sources/{found['id']}", If_Match=read["ETag"])
    assert (answer.status_code, code(answer)) == (409, "still_used")


def test_a_directory_is_made_with_those_above_it(at_work):
    made = at_work.editor.post("directories", {"path": "desk/first"})
    assert (made.status_code, made.json()["path"]) == (201, "desk/first")
    paths = {row["path"] for row in at_work.viewer.get("directories").json()["results"]}
    assert paths == {"desk", "desk/first"}
    renamed = at_work.editor.patch(
        f"directories/{made.json()['id']}", {"name": "front"}, If_Match=made["ETag"]
    )
    assert renamed.json()["path"] == "desk/front"


def test_without_credentials_there_is_no_way_in(at_work):
    answer = Client().get("/api/v1/items")
    assert (answer.status_code, code(answer)) == (401, "token_refused")
    assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("header", ["Bearer x", "Basic abc", "Bearer a.b.c d", "Bearer \u00e9.x"])
def test_a_token_that_is_none_is_refused(at_work, header):
    answer = Client().get("/api/v1/items", headers={"Authorization": header})
    assert (answer.status_code, code(answer)) == (401, "token_refused")


def test_a_revoked_token_ends_with_the_next_request(at_work):
    with at_work.acme.context():
        token = ApiToken.objects.get(user__username="erin")
    assert at_work.editor.get("items").status_code == 200
    revoke_token(token.organization_id, token.pk, by=BY, at=AT)
    assert at_work.editor.get("items").status_code == 401


def test_a_token_reaches_one_organization_of_a_person_with_two(at_work):
    erin = User.objects.get(username="erin")
    Membership.objects.create(user=erin, organization=at_work.globex.organization, role=Role.EDITOR)
    push(at_work.rival)
    assert at_work.editor.get("items").json()["results"] == []
    assert at_work.editor.get("items?organization=globex").status_code == 404


def test_a_browser_needs_the_csrf_token_to_change_something(at_work):
    user = member(at_work.acme, "bea", Role.EDITOR)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user, backend="tenants.sign_in.SignInBackend")
    assert browser.get("/api/v1/items").status_code == 200
    answer = browser.post("/api/v1/items", json.dumps(ITEM), content_type="application/json")
    assert (answer.status_code, code(answer)) == (403, "csrf_refused")


def test_the_schema_is_open_to_everybody(client):
    assert client.get("/api/v1/schema").json()["openapi"].startswith("3.1")


@pytest.mark.parametrize("query", ["external_id=%00", "source=a%00b", "organization=%00", "x%00=1"])
def test_a_query_that_no_column_can_hold_is_refused(at_work, query):
    assert at_work.viewer.get(f"items?{query}").status_code == 400


def test_a_person_who_left_takes_their_tokens_along(at_work):
    push(at_work.editor)
    Membership.objects.filter(user__username="vera").delete()
    assert at_work.viewer.get("items").json()["results"] == []
    User.objects.filter(username="erin").update(is_active=False)
    assert at_work.editor.get("items").status_code == 401
