"""Answers have an owner and are looked at again; what is overdue need not come first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from golden import keeping
from golden.acting import Act
from golden.errors import (
    AnswerChangedMeanwhile,
    ContentRefused,
    NothingPublished,
    RoleMissing,
)
from golden.keeping import Care
from golden.models import GoldenAnswer
from tenants.models import User
from tests.answers import CONTENT, Staff
from tests.world import AT

pytestmark = pytest.mark.django_db
LATER = AT + timedelta(days=181)
BIRDS = "toucan heron pelican flamingo ostrich cormorant kestrel magpie sparrow"


@pytest.fixture
def staff():
    return Staff()


def leading(staff, at):
    """What comes first for a question of which an item has one word more than the answer."""
    return staff.heard(f"{BIRDS} penguin", at=at)[0][0]


def answer_and_item(staff):
    staff.tenant.item("Birds", f"{BIRDS} penguin.")
    return staff.published(replace(CONTENT, question="Birds", answer=BIRDS, paraphrases=()))


def overdue(staff, at):
    with staff.tenant.context():
        return list(keeping.overdue(GoldenAnswer.objects.all(), at=at).values_list("pk", flat=True))


def test_an_answer_is_overdue_when_its_interval_has_passed(staff):
    pk = staff.published()
    assert (overdue(staff, AT + timedelta(days=179)), overdue(staff, LATER)) == ([], [pk])


def test_a_verified_answer_is_not_overdue_any_more(staff):
    pk = staff.published()
    keeping.verify(staff.organization.pk, pk, staff.act("author", at=LATER))
    assert overdue(staff, LATER) == []


def test_a_draft_cannot_be_verified(staff):
    with pytest.raises(NothingPublished):
        keeping.verify(staff.organization.pk, staff.write(), staff.act("author"))


def test_a_viewer_cannot_verify(staff):
    pk = staff.published()
    with pytest.raises(RoleMissing):
        keeping.verify(staff.organization.pk, pk, staff.act("viewer"))


def test_an_overdue_answer_still_comes_first_unless_the_organization_says_otherwise(staff):
    answer_and_item(staff)
    assert leading(staff, LATER) == "golden"


def test_an_overdue_answer_no_longer_comes_first_where_the_organization_says_so(staff):
    answer_and_item(staff)
    staff.organization.overdue_answers_lead = False
    staff.organization.save()
    assert (leading(staff, AT), leading(staff, LATER)) == ("golden", "knowledge")


def test_verifying_puts_an_answer_first_again_without_touching_the_index(staff):
    pk = answer_and_item(staff)
    staff.organization.overdue_answers_lead = False
    staff.organization.save()
    before = staff.index_state(pk).desired_generation
    keeping.verify(staff.organization.pk, pk, staff.act("author", at=LATER))
    assert leading(staff, LATER) == "golden"
    assert staff.index_state(pk).desired_generation == before


def test_a_shorter_interval_counts_at_once(staff):
    pk = staff.published()
    keeping.assign(staff.organization.pk, pk, Care(None, 10), staff.act("author"))
    assert overdue(staff, AT + timedelta(days=11)) == [pk]


def test_an_owner_has_to_be_a_member(staff):
    pk = staff.write()
    stranger = User.objects.create_user("stranger")
    with pytest.raises(ContentRefused):
        keeping.assign(staff.organization.pk, pk, Care(stranger.pk, 30), staff.act("author"))


def test_a_verb_on_a_page_that_is_out_of_date_is_refused(staff):
    pk = staff.published()
    seen = staff.row(pk).lock_version
    keeping.verify(staff.organization.pk, pk, staff.act("author"))
    stale = Act(staff.people["author"], AT, expects=seen)
    with pytest.raises(AnswerChangedMeanwhile):
        keeping.verify(staff.organization.pk, pk, stale)
