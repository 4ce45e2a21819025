"""Odd requests to the admin get a sentence, a 400 or a 404: never a 500, and never another organization."""

from __future__ import annotations

import pytest

from golden.models import GoldenAnswer
from knowledge.models import Instruction, InstructionDirectory
from tenants.models import Membership, Role
from tests.staff import office, posted

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff():
    return office()


@pytest.fixture
def admin(staff):
    return staff.as_("admin")


LISTS = ("knowledge/item", "knowledge/instruction", "tenants/membership", "scopes/folderpick")


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("condition", ["index", "status__exact", "role__exact", "role", "q", "e"])
def test_a_list_asked_for_what_no_column_holds_shows_itself(admin, name, condition):
    answer = admin.get(f"/admin/{name}/", {condition: "\0"}, follow=True)
    assert answer.status_code == 200


def test_a_row_looked_for_by_what_no_column_holds_is_refused(admin):
    asked = {"app_label": "knowledge", "model_name": "instructiondirectory", "term": "\0"}
    answer = admin.get("/admin/autocomplete/", {**asked, "field_name": "parent"})
    assert answer.status_code == 400


def added(client, staff, **told):
    own = {"organization": staff.acme.organization.pk, **told}
    return client.post("/admin/knowledge/instructiondirectory/add/", own)


def errors(answer):
    assert answer.status_code == 200
    return dict(answer.context["adminform"].form.errors)


@pytest.mark.parametrize("text", ["foo", "-1", "9" * 30, "\0", "‮"])
def test_what_is_no_id_of_a_row_is_refused_in_its_box(admin, staff, text):
    assert "parent" in errors(added(admin, staff, name="New", parent=text))


@pytest.mark.parametrize("name", ["a\u202eb", "a\x01b", "a/b", "..", "n" * 201])
def test_what_cannot_be_a_directorys_name_is_refused_in_its_box(admin, staff, name):
    assert "name" in errors(added(admin, staff, name=name))


def test_a_directory_that_is_sent_twice_is_made_once(admin, staff):
    assert added(admin, staff, name="New").status_code == 302
    assert errors(added(admin, staff, name="New"))["name"] == [
        "Another directory there has this name already."
    ]


def test_a_directory_is_not_renamed_onto_another_one(admin, staff):
    staff.acme.directory("Old")
    moving = staff.acme.directory("Moving")
    address = f"/admin/knowledge/instructiondirectory/{moving}/change/"
    answer = admin.post(address, {**posted(admin, address), "name": "Old"})
    assert "name" in errors(answer)
    with staff.acme.context():
        assert InstructionDirectory.objects.get(pk=moving).name == "Moving"


def test_a_version_that_no_column_holds_is_refused(admin, staff):
    row = f"{staff.rows['item'].pk}:{'9' * 30}"
    answer = admin.post("/admin/browse/acme/do/", {"action": "publish", "row": row})
    assert answer.status_code == 400


def test_an_answer_without_any_text_cannot_be_scheduled(admin, staff):
    with staff.acme.context():
        bare = GoldenAnswer.objects.create(
            organization=staff.acme.organization, kind="answer", owner=staff.people["admin"]
        )
    address = f"/admin/golden/{bare.pk}/schedule/"
    assert admin.get(address).status_code == 404
    assert admin.post(address, {}).status_code == 404


def test_a_page_of_an_organization_one_has_left_writes_nothing_into_another(staff, admin):
    person = staff.people["admin"]
    Membership.objects.create(user=person, organization=staff.globex.organization, role=Role.ADMIN)
    Membership.objects.filter(user=person, organization=staff.acme.organization).delete()
    told = {"title": "Left", "body": "Words.", "visibility": "public"}
    answer = admin.post("/admin/instructions/new/?organization=acme", told)
    assert answer.status_code == 404
    with staff.globex.context():
        assert not Instruction.objects.filter(title="Left").exists()
