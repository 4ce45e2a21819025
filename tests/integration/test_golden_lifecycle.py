"""Answers are written, reviewed, published, rolled back and served first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import DatabaseError, transaction

from golden import drafting, publishing
from golden.errors import (
    AnswerArchived,
    AnswerNotThere,
    ApproverIsRequester,
    DraftChangedMeanwhile,
    DraftSaysNothingNew,
    NothingPublished,
    ReasonMissing,
    RequestNotOpen,
    RoleMissing,
    VersionNeverPublished,
)
from golden.models import AnswerVersion, GoldenAnswer, Publication
from knowledge.models import IndexState, Item
from tenants.models import AuditEntry, Membership
from tests.answers import CONTENT, Staff

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff():
    return Staff()


def test_a_draft_is_not_served(staff):
    staff.write()
    assert staff.heard() == []


def test_an_approved_answer_is_served_by_the_next_search_with_no_worker_running(staff):
    staff.publish(staff.write())
    assert staff.heard() == [("golden", CONTENT.answer)]


def test_a_published_answer_waits_for_the_index_in_its_own_row(staff):
    staff.publish(staff.write())
    with staff.tenant.context():
        state = IndexState.objects.get()
    assert state.desired_generation > state.applied_generation


def test_who_asks_may_not_approve(staff):
    request = staff.request(staff.write())
    Membership.objects.create(
        user_id=staff.people["author"].user_id, organization=staff.organization, role="approver"
    )
    with pytest.raises(ApproverIsRequester):
        staff.approve(request, role="author")


@pytest.mark.parametrize(("verb", "role"), [("approve", "author"), ("approve", "viewer")])
def test_approving_needs_the_role(staff, verb, role):
    request = staff.request(staff.write())
    with pytest.raises(RoleMissing):
        staff.approve(request, role=role)


def test_a_draft_edited_after_the_request_is_not_what_was_approved(staff):
    pk = staff.write()
    request = staff.request(pk)
    staff.edit(pk, replace(CONTENT, answer="Something else."))
    with pytest.raises(RequestNotOpen):
        staff.approve(request)


def test_a_stale_draft_is_refused_with_both_texts(staff):
    pk = staff.write()
    first, second = replace(CONTENT, answer="First."), replace(CONTENT, answer="Second.")
    staff.edit(pk, first)
    with pytest.raises(DraftChangedMeanwhile) as refused:
        drafting.save_draft(staff.organization.pk, pk, second, staff.act("author"), lock_version=1)
    assert (refused.value.data["yours"], refused.value.data["theirs"].answer) == (second, "First.")


def test_discarding_a_draft_leaves_what_is_live(staff):
    pk = staff.write()
    staff.publish(pk)
    staff.edit(pk, replace(CONTENT, answer="Unfinished."))
    drafting.discard_draft(staff.organization.pk, pk, staff.act("author"))
    assert staff.heard() == [("golden", CONTENT.answer)]


def test_an_override_needs_a_reason(staff):
    pk = staff.write()
    with pytest.raises(ReasonMissing):
        publishing.override_publish(staff.organization.pk, pk, staff.act("publisher"))


def test_an_override_publishes_without_approval(staff):
    pk = staff.write()
    publishing.override_publish(
        staff.organization.pk, pk, staff.act("publisher", "The desk moved.")
    )
    assert staff.heard() == [("golden", CONTENT.answer)]


def test_rolling_back_serves_the_earlier_text_and_only_adds_history(staff):
    pk = staff.write()
    staff.publish(pk)
    first = staff.row(pk).published_version_id
    staff.edit(pk, replace(CONTENT, answer="The toucan desk has moved."))
    staff.publish(pk)
    publishing.roll_back(staff.organization.pk, pk, first, staff.act("publisher"))
    with staff.tenant.context():
        history = list(Publication.objects.filter(golden=pk).values_list("verb", flat=True))
    assert staff.heard() == [("golden", CONTENT.answer)]
    assert sorted(history) == ["golden.approve", "golden.approve", "golden.roll_back"]


def test_a_version_that_was_never_live_cannot_be_rolled_back_to(staff):
    pk = staff.write()
    staff.publish(pk)
    staff.edit(pk, replace(CONTENT, answer="Never approved."))
    staff.request(pk)
    with staff.tenant.context():
        never = AnswerVersion.objects.get(golden=pk, answer="Never approved.").pk
    with pytest.raises(VersionNeverPublished):
        publishing.roll_back(staff.organization.pk, pk, never, staff.act("publisher"))


def test_nothing_live_cannot_be_rolled_back(staff):
    pk = staff.write()
    with pytest.raises(NothingPublished):
        publishing.roll_back(staff.organization.pk, pk, pk, staff.act("publisher"))


def test_an_archived_answer_is_gone_from_the_next_search(staff):
    pk = staff.write()
    staff.publish(pk)
    staff.archive(pk)
    assert staff.heard() == []


def test_an_archived_answer_cannot_be_edited(staff):
    pk = staff.write()
    staff.archive(pk)
    with pytest.raises(AnswerArchived):
        staff.edit(pk, CONTENT)


def test_restoring_brings_an_answer_back_as_a_draft(staff):
    pk = staff.write()
    staff.publish(pk)
    staff.archive(pk)
    publishing.restore(staff.organization.pk, pk, staff.act("publisher"))
    with staff.tenant.context():
        draft = GoldenAnswer.objects.get(pk=pk).draft
    assert (staff.heard(), draft.answer) == ([], CONTENT.answer)


def test_publishing_what_is_live_already_is_refused(staff):
    pk = staff.write()
    staff.publish(pk)
    staff.edit(pk, CONTENT)
    with pytest.raises(DraftSaysNothingNew):
        staff.request(pk)


def test_an_organization_that_needs_no_approval_publishes_at_once(staff):
    staff.organization.approval_required = False
    staff.organization.save()
    staff.request(staff.write())
    assert staff.heard() == [("golden", CONTENT.answer)]


def test_two_answers_of_equal_text_stand_apart(staff):
    first, second = staff.write(), staff.write()
    staff.publish(first)
    staff.publish(second)
    staff.archive(first)
    with staff.tenant.context():
        items = set(Item.objects.values_list("pk", flat=True))
    assert (len(items), staff.heard()) == (2, [("golden", CONTENT.answer)])


def test_another_organization_s_answer_is_not_there(staff):
    pk = staff.write()
    rival = Staff("globex")
    with pytest.raises(AnswerNotThere):
        publishing.archive(rival.organization.pk, pk, rival.act("publisher"))


def test_a_version_can_never_be_changed(staff):
    staff.publish(staff.write())
    with staff.tenant.context(), pytest.raises(DatabaseError), transaction.atomic():
        AnswerVersion.objects.update(answer="Rewritten.")


def test_every_verb_leaves_a_line_in_the_audit_trail(staff):
    pk = staff.write()
    staff.publish(pk)
    staff.archive(pk)
    with staff.tenant.context():
        verbs = set(AuditEntry.objects.filter(subject_id=str(pk)).values_list("verb", flat=True))
    assert verbs == {
        "golden.create", "golden.request_publish", "golden.approve", "golden.archive"
    }  # fmt: skip


def test_a_rule_is_never_searched(staff):
    staff.publish(staff.write(kind="rule"))
    assert staff.heard() == []
