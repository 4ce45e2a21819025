"""Whoever waited for somebody else's change decides by what is there then, not by what was there before."""

from __future__ import annotations

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.db import connection
from django.urls import reverse
from django.utils.http import urlsafe_base64_encode

from knowledge.indexing.filing import file_directory
from knowledge.indexing.writing import change
from knowledge.models import Instruction, InstructionDirectory, Item, Source
from tenants.locking import lock_organization
from tenants.models import AuditEntry, Contact, ContactSegment, Membership, PhoneAgent, Role, User
from tests.meanwhile import committed_while_waited_for
from tests.people import program
from tests.staff import browser, person, posted
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db(transaction=True)
REFUSED = "Somebody changed this after you opened it"


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def admin(acme):
    return browser(person("admin", (acme.organization, Role.ADMIN)))


@pytest.fixture
def editor(acme):
    return program(acme, "erin", Role.EDITOR)


def locked(model, pk):
    return model.objects.select_for_update(of=("self",), no_key=True).get(pk=pk)


def now(acme, model, pk):
    with acme.context():
        return model._default_manager.get(pk=pk)


def test_an_item_that_was_restricted_while_its_form_waited_stays_restricted(acme, admin):
    item = acme.item("Opening hours")
    address = f"/admin/knowledge/item/{item}/change/"
    sent = {**posted(admin, address), "title": "Corrected"}
    with committed_while_waited_for(
        acme.organization.pk,
        lambda: change(locked(Item, item), at=AT, segment_restricted=True),
    ):
        answer = admin.post(address, sent)
    assert REFUSED in answer.content.decode()
    kept = now(acme, Item, item)
    assert (kept.title, kept.segment_restricted) == ("Opening hours", True)


def test_an_instruction_that_was_taken_back_while_its_form_waited_stays_taken_back(acme, admin):
    row = acme.instruction("Greeting")
    address = f"/admin/knowledge/instruction/{row}/change/"
    sent = {**posted(admin, address), "title": "Corrected"}
    with committed_while_waited_for(
        acme.organization.pk, lambda: change(locked(Instruction, row), at=AT, status="draft")
    ):
        answer = admin.post(address, sent)
    assert REFUSED in answer.content.decode()
    assert now(acme, Instruction, row).status == "draft"


@pytest.mark.parametrize(
    ("kind", "action", "column", "before"),
    [
        ("item", "approve_selected", "review_status", "rejected"),
        ("instruction", "publish_selected", "status", "draft"),
    ],
)
def test_the_audit_trail_says_what_was_there_when_an_action_had_waited(
    acme, admin, kind, action, column, before
):
    pk = getattr(acme, kind)("Opening hours")
    model = {"item": Item, "instruction": Instruction}[kind]
    sent = {"action": action, "_selected_action": [str(pk)]}
    with committed_while_waited_for(
        acme.organization.pk, lambda: change(locked(model, pk), at=AT, **{column: before})
    ):
        admin.post(f"/admin/knowledge/{kind}/", sent)
    with acme.context():
        entry = AuditEntry.objects.get(subject_id=str(pk))
    assert entry.before == {column: before}


def test_a_contact_that_left_a_segment_while_its_form_waited_is_not_put_back(acme, admin):
    contact = acme.contact("crm-1", acme.segment("vip"))
    address = f"/admin/tenants/contact/{contact.pk}/change/"
    sent = {**posted(admin, address), "name": "Corrected"}

    def take_out():
        locked(Contact, contact.pk)
        ContactSegment.objects.filter(contact=contact).delete()

    with committed_while_waited_for(acme.organization.pk, take_out):
        answer = admin.post(address, sent)
    assert REFUSED in answer.content.decode()
    with acme.context():
        assert not ContactSegment.objects.filter(contact=contact).exists()


def test_an_agent_that_was_switched_off_while_its_form_waited_stays_off(acme, admin):
    agent = acme.agent()
    address = f"/admin/tenants/phoneagent/{agent.pk}/change/"
    sent = {**posted(admin, address), "name": "Corrected"}
    with committed_while_waited_for(
        acme.organization.pk,
        lambda: PhoneAgent.objects.filter(pk=agent.pk).update(is_active=False),
    ):
        answer = admin.post(address, sent)
    assert REFUSED in answer.content.decode()
    assert not now(acme, PhoneAgent, agent.pk).is_active


def test_a_row_that_was_deleted_while_its_form_waited_is_not_there(acme, admin):
    segment = acme.segment("vip")
    address = f"/admin/tenants/segment/{segment.pk}/change/"
    sent = {**posted(admin, address), "name": "Corrected"}
    with committed_while_waited_for(
        acme.organization.pk, lambda: type(segment).objects.filter(pk=segment.pk).delete()
    ):
        answer = admin.post(address, sent)
    assert answer.status_code == 404


def pair(acme):
    rows = []
    for name in ("ada", "bob"):
        user = person(name, (acme.organization, Role.ADMIN))
        rows.append(Membership.objects.get(user=user, role=Role.ADMIN))
    return rows


def leave(acme, row):
    lock_organization(acme.organization.pk)
    Membership.objects.filter(pk=row.pk).delete()


def test_two_admins_who_delete_each_other_leave_one(acme):
    mine, theirs = pair(acme)
    address = f"/admin/tenants/membership/{theirs.pk}/delete/"
    client = browser(mine.user)
    with committed_while_waited_for(acme.organization.pk, lambda: leave(acme, mine)):
        answer = client.post(address, {"post": "yes"})
    assert "keeps at least one administrator" in answer.content.decode()
    assert Membership.objects.filter(pk=theirs.pk).exists()


def test_the_last_admin_is_not_made_something_else_while_the_other_one_leaves(acme):
    mine, theirs = pair(acme)
    address = f"/admin/tenants/membership/{theirs.pk}/change/"
    client = browser(mine.user)
    sent = {**posted(client, address), "role": "viewer"}
    with committed_while_waited_for(acme.organization.pk, lambda: leave(acme, mine)):
        answer = client.post(address, sent)
    assert "keeps at least one administrator" in answer.content.decode()
    assert Membership.objects.get(pk=theirs.pk).role == Role.ADMIN


NEW = "an even longer sentence"


def test_an_account_that_was_closed_while_a_new_password_was_set_by_mail_stays_closed(acme):
    row = person("ada", (acme.organization, Role.VIEWER), email="ada@example.com")
    named = (urlsafe_base64_encode(str(row.pk).encode()), default_token_generator.make_token(row))
    client = browser(None)
    form = client.get(reverse("password_reset_confirm", args=named)).headers["Location"]
    with committed_while_waited_for(
        acme.organization.pk, lambda: User.objects.filter(pk=row.pk).update(is_active=False)
    ):
        client.post(form, {"new_password1": NEW, "new_password2": NEW})
    now = User.objects.get(pk=row.pk)
    assert (now.is_active, now.check_password(NEW)) == (False, True)
    assert now.proven_email == "ada@example.com"


@pytest.mark.parametrize("who", ["person", "operator"])
def test_an_account_that_was_closed_while_its_password_changed_stays_closed(acme, who):
    row = person("ada", (acme.organization, Role.VIEWER))
    if who == "person":
        client, address = browser(row), "/admin/password_change/"
        sent = {"old_password": "a long enough word", "new_password1": NEW, "new_password2": NEW}
    else:
        client, address = (
            browser(person("operator", is_superuser=True)),
            f"/admin/tenants/user/{row.pk}/password/",
        )
        sent = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    with committed_while_waited_for(
        acme.organization.pk, lambda: User.objects.filter(pk=row.pk).update(is_active=False)
    ):
        answer = client.post(address, sent)
    assert answer.status_code == 302
    now = User.objects.get(pk=row.pk)
    assert (now.is_active, now.check_password(NEW)) == (False, True)


def moved(acme, directory, parent, name="first"):
    def act():
        row = InstructionDirectory.objects.get(pk=directory)
        above = InstructionDirectory.objects.get(pk=parent) if parent else None
        file_directory(row, name=name, parent=above, at=AT)

    return act


def test_a_directory_that_was_moved_while_its_rename_waited_stays_where_it_is(acme, editor):
    directory, parent = acme.directory("first"), acme.directory("second")
    address = f"directories/{directory}"
    tag = editor.get(address)["ETag"]
    with committed_while_waited_for(acme.organization.pk, moved(acme, directory, parent)):
        answer = editor.patch(address, {"name": "renamed"}, If_Match=tag)
    assert answer.status_code == 412
    kept = now(acme, InstructionDirectory, directory)
    assert (kept.name, kept.parent_id) == ("first", parent)


def test_a_directory_that_was_renamed_while_its_deletion_waited_stays(acme, editor):
    directory = acme.directory("first")
    address = f"directories/{directory}"
    tag = editor.get(address)["ETag"]
    with committed_while_waited_for(acme.organization.pk, moved(acme, directory, None, "second")):
        answer = editor.delete(address, If_Match=tag)
    assert answer.status_code == 412
    assert now(acme, InstructionDirectory, directory).name == "second"


def test_a_directory_that_was_deleted_while_its_rename_waited_is_not_there(acme, editor):
    directory = acme.directory("first")
    address = f"directories/{directory}"
    tag = editor.get(address)["ETag"]

    def delete():
        lock_organization(acme.organization.pk)
        InstructionDirectory.objects.filter(pk=directory).update(deleted_at=AT)

    with committed_while_waited_for(acme.organization.pk, delete):
        answer = editor.patch(address, {"name": "renamed"}, If_Match=tag)
    assert answer.status_code == 404


def test_a_directory_into_which_something_was_filed_while_its_deletion_waited_stays(acme, editor):
    directory = acme.directory("first")
    address = f"directories/{directory}"
    tag = editor.get(address)["ETag"]

    def file_there():
        acme.instruction("Greeting", directory="first")
        connection.check_constraints()

    with committed_while_waited_for(acme.organization.pk, file_there):
        answer = editor.delete(address, If_Match=tag)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "still_used")
    assert now(acme, InstructionDirectory, directory).name == "first"


def test_a_source_that_was_renamed_while_its_deletion_waited_stays(acme, editor):
    source = acme.source()
    address = f"sources/{source.pk}"
    tag = editor.get(address)["ETag"]
    with committed_while_waited_for(
        acme.organization.pk, lambda: Source.objects.filter(pk=source.pk).update(name="Desk")
    ):
        answer = editor.delete(address, If_Match=tag)
    assert answer.status_code == 412
    assert now(acme, Source, source.pk).name == "Desk"


def test_a_source_into_which_something_came_while_its_deletion_waited_stays(acme, editor):
    source = acme.source()
    address = f"sources/{source.pk}"
    tag = editor.get(address)["ETag"]

    def bring_in():
        acme.item("Opening hours")
        connection.check_constraints()

    with committed_while_waited_for(acme.organization.pk, bring_in):
        answer = editor.delete(address, If_Match=tag)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "still_used")
    assert now(acme, Source, source.pk).slug == "help"
