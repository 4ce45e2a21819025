"""Staff correct what was found in a call; approved by somebody else, it is searched."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from golden.correcting import (
    Correction,
    approve_correction,
    correct,
    reject_correction,
    restore_correction,
    withdraw_correction,
)
from golden.errors import (
    AnswerArchived,
    AnswerChangedMeanwhile,
    AnswerNotArchived,
    AnswerNotThere,
    ApproverIsRequester,
    ContentRefused,
    ReasonMissing,
    RequestNotOpen,
    RoleMissing,
)
from knowledge.models import IndexState, SearchRecord
from tenants.models import AuditEntry, Membership, User
from tests.answers import Staff
from tests.staff import browser
from tests.world import AT

pytestmark = pytest.mark.django_db
SAID = Correction("Is the toucan desk open on Sunday?", "The toucan desk is closed on Sunday.")


@pytest.fixture
def staff():
    return Staff()


@pytest.fixture
def search(staff):
    with staff.tenant.context():
        return SearchRecord.objects.create(
            organization=staff.organization, at=AT, agent=staff.agent, status="no_match",
            queries=[SAID.question], instruction_mode="all", knowledge_mode="all",
        )  # fmt: skip


def write(staff, said=SAID):
    return correct(staff.organization, said, staff.act("author"))


def approve(staff, pk, role="approver"):
    approve_correction(staff.organization.pk, pk, staff.act(role))


def heard(staff):
    return staff.heard("toucan desk sunday")


def test_a_correction_is_not_heard_before_it_is_approved(staff):
    write(staff)
    assert heard(staff) == []


def test_an_approved_correction_is_heard_as_knowledge_and_waits_for_the_index(staff):
    pk = write(staff)
    approve(staff, pk)
    with staff.tenant.context():
        state = IndexState.objects.get(asset_id=pk)
    assert heard(staff) == [("knowledge", SAID.text)]
    assert state.desired_generation > state.applied_generation


def test_who_wrote_it_may_not_approve_it(staff):
    pk = write(staff)
    author = staff.people["author"].user_id
    Membership.objects.create(user_id=author, organization=staff.organization, role="approver")
    with pytest.raises(ApproverIsRequester):
        approve(staff, pk, role="author")


def test_a_declined_correction_needs_a_reason_and_is_never_heard(staff):
    pk = write(staff)
    with pytest.raises(ReasonMissing):
        reject_correction(staff.organization.pk, pk, staff.act("approver"))
    reject_correction(staff.organization.pk, pk, staff.act("approver", "It is open."))
    with pytest.raises(RequestNotOpen):
        approve(staff, pk)


def test_where_nobody_has_to_approve_it_is_heard_at_once(staff):
    staff.organization.approval_required = False
    staff.organization.save()
    write(staff)
    assert heard(staff) == [("knowledge", SAID.text)]


def test_a_correction_for_one_agent_is_heard_by_no_other(staff):
    other = staff.tenant.agent("other")
    approve(staff, write(staff, Correction(SAID.question, SAID.text, None, other.pk)))
    assert heard(staff) == []


def test_writing_and_approving_need_their_roles(staff):
    with pytest.raises(RoleMissing):
        correct(staff.organization, SAID, staff.act("viewer"))
    with pytest.raises(RoleMissing):
        approve(staff, write(staff), role="author")


def test_a_correction_without_words_is_refused(staff):
    with pytest.raises(ContentRefused):
        write(staff, Correction("", ""))


def test_a_foreign_correction_is_not_there(staff):
    rival = Staff("globex")
    pk = write(rival)
    with pytest.raises(AnswerNotThere):
        approve(staff, pk)


def test_a_search_that_is_not_there_cannot_be_corrected(staff):
    with pytest.raises(ContentRefused):
        write(staff, Correction(SAID.question, SAID.text, uuid.uuid4()))


def test_a_correction_is_made_from_a_search_and_approved_on_the_pages(staff, search):
    author, approver = (
        browser(User.objects.get(pk=staff.people[role].user_id)) for role in ("author", "approver")
    )
    page = author.get(f"/admin/golden-correct/{search.pk}/").content.decode()
    assert SAID.question in page
    sent = {"question": SAID.question, "text": SAID.text, "for_everyone": "on"}
    author.post(f"/admin/golden-correct/{search.pk}/", sent)
    with staff.tenant.context():
        pk = AuditEntry.objects.get(verb="correction.write").subject_id
    assert SAID.question in approver.get("/admin/golden-queue/").content.decode()
    approver.post(f"/admin/golden-corrections/{pk}/approve/", {"lock_version": 1})
    assert heard(staff) == [("knowledge", SAID.text)]


def test_a_foreign_search_cannot_be_corrected_on_the_page(staff):
    client = browser(User.objects.get(pk=staff.people["author"].user_id))
    assert client.get(f"/admin/golden-correct/{uuid.uuid4()}/").status_code == 404


def withdraw(staff, pk, role="publisher"):
    withdraw_correction(staff.organization.pk, pk, staff.act(role))


def restore(staff, pk, role="publisher"):
    restore_correction(staff.organization.pk, pk, staff.act(role))


def test_a_withdrawn_correction_is_gone_from_the_next_search(staff):
    pk = write(staff)
    approve(staff, pk)
    withdraw(staff, pk)
    assert heard(staff) == []


def test_a_restored_correction_waits_for_approval_again(staff):
    pk = write(staff)
    approve(staff, pk)
    withdraw(staff, pk)
    restore(staff, pk)
    assert heard(staff) == []
    approve(staff, pk)
    assert heard(staff) == [("knowledge", SAID.text)]


def test_a_restored_correction_is_heard_at_once_where_nobody_has_to_approve(staff):
    staff.organization.approval_required = False
    staff.organization.save()
    pk = write(staff)
    withdraw(staff, pk)
    restore(staff, pk)
    assert heard(staff) == [("knowledge", SAID.text)]


def test_withdrawing_and_restoring_need_the_role_and_the_state(staff):
    pk = write(staff)
    with pytest.raises(RoleMissing):
        withdraw(staff, pk, role="approver")
    with pytest.raises(AnswerNotArchived):
        restore(staff, pk)
    withdraw(staff, pk)
    with pytest.raises(AnswerArchived):
        withdraw(staff, pk)
    with pytest.raises(RoleMissing):
        restore(staff, pk, role="author")


def test_a_stale_tab_decides_nothing_about_a_correction(staff):
    pk = write(staff)
    with pytest.raises(AnswerChangedMeanwhile):
        approve_correction(staff.organization.pk, pk, replace(staff.act("approver"), expects=7))
    assert heard(staff) == []


def test_every_decision_about_a_correction_is_in_the_audit_trail(staff):
    pk = write(staff)
    approve(staff, pk)
    withdraw(staff, pk)
    restore(staff, pk)
    with staff.tenant.context():
        verbs = AuditEntry.objects.filter(subject_id=str(pk)).values_list("verb", flat=True)
        assert sorted(verbs) == [
            f"correction.{v}" for v in ("approve", "restore", "withdraw", "write")
        ]


def test_corrections_are_listed_by_where_they_stand_and_withdrawn_on_the_pages(staff):
    pk = write(staff)
    approve(staff, pk)
    client = browser(User.objects.get(pk=staff.people["publisher"].user_id))
    address = f"/admin/golden-corrections/{pk}/withdraw/"
    assert address in client.get("/admin/golden-corrections/").content.decode()
    assert "no caller hears it" in client.get(address).content.decode()
    stale = client.post(address, {"lock_version": 1})
    assert stale.status_code == 409
    assert heard(staff) != []
    client.post(address, {"lock_version": 2})
    assert heard(staff) == []
    listed = client.get("/admin/golden-corrections/?state=withdrawn").content.decode()
    assert f"/admin/golden-corrections/{pk}/restore/" in listed
    assert "Nothing like that is here." in client.get("/admin/golden-corrections/").content.decode()
