"""What is asked word for word comes first; two that match both do; nobody hears what is not theirs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from knowledge.models import LexicalEntry
from knowledge.retrieval.pipeline import retrieve
from tests.answers import CONTENT, Staff
from tests.planting import asked, direction, plant_vectors
from tests.world import AT

pytestmark = pytest.mark.django_db
REFUND = replace(
    CONTENT,
    question="Can I get my money back?",
    answer="A refund takes five days.",
    paraphrases=("能退吗", "هل يمكنني استرجاع المبلغ"),
)


@pytest.fixture
def staff():
    return Staff()


@pytest.mark.parametrize(
    "text", ["能退吗", "هل يمكنني استرجاع المبلغ؟", "CAN I GET MY MONEY BACK", "can i get my money back?!"]
)  # fmt: skip
def test_a_question_asked_word_for_word_is_answered_first_with_no_worker_running(staff, text):
    staff.published(REFUND)
    staff.tenant.item("Money", "Can I get my money back? Money back. " * 3)
    assert staff.heard(text)[0] == ("golden", REFUND.answer)


def test_the_words_of_a_draft_are_not_matched(staff):
    pk = staff.published()
    staff.edit(pk, REFUND)
    assert staff.heard("能退吗") == []


def test_a_question_of_an_earlier_version_is_not_matched_any_more(staff):
    pk = staff.published(REFUND)
    staff.edit(pk, replace(REFUND, paraphrases=()))
    staff.publish(pk)
    assert staff.heard("能退吗") == []


def test_an_item_of_knowledge_never_counts_as_asked_word_for_word(staff):
    staff.tenant.item("能退吗", "Nothing to see.", phrasings=("能退吗",))
    with staff.tenant.context():
        found = retrieve(asked(staff.organization.pk, "能退吗", None), staff.allowlist(), limit=5)
    assert not any(ranked.exact for ranked in found.ranked)


def test_of_two_that_match_the_one_asked_word_for_word_is_first_and_neither_comes_twice(staff):
    other = replace(
        CONTENT, question="Money", answer="Can I get my money back? Ask.", paraphrases=()
    )
    staff.published(other)
    staff.published(REFUND)
    staff.tenant.instruction("Money back", "Can I get my money back? Say yes.")
    heard = staff.heard("can i get my money back")
    assert heard[:2] == [("golden", REFUND.answer), ("golden", other.answer)]
    assert [kind for kind, _ in heard].count("golden") == 2
    assert heard[2][0] == "instruction"


GATED: dict[str, dict[str, Any]] = {
    "channel": {"channel_restricted": True, "channels": ("chat",)},
    "nobody's channel": {"channel_restricted": True},
    "jurisdiction": {"jurisdictions": ("DE",), "jurisdiction_restricted": True},
    "segment": {"segment_restricted": True},
    "agent": {"agent_restricted": True},
    "past": {"valid_until": AT - timedelta(seconds=1)},
    "future": {"valid_from": AT + timedelta(seconds=1)},
    "internal": {"visibility": "internal"},
}


@pytest.mark.parametrize("gate", GATED)
def test_a_gated_answer_is_not_served_however_the_index_was_poisoned(staff, gate):
    pk = staff.published(replace(REFUND, **GATED[gate]))
    row = staff.row(pk)
    with staff.tenant.context():
        plant_vectors(staff.organization.pk, {row.item_id: direction(1)})
        LexicalEntry.objects.filter(asset_id=row.item_id).update(generation=1)
        question = asked(staff.organization.pk, "能退吗", direction(1))
        found = retrieve(replace(question, pinned=(row.item_id,)), staff.allowlist(), limit=5)
    assert found.results == ()


def test_an_answer_outside_the_allowlist_is_not_served_word_for_word_or_pinned(staff):
    pk = staff.published(REFUND)
    staff.tenant.item("Elsewhere", folder="elsewhere")
    staff.tenant.pick(staff.agent, "knowledge", containers=["help/elsewhere"])
    question = asked(staff.organization.pk, "能退吗", None)
    with staff.tenant.context():
        pinned = replace(question, pinned=(staff.row(pk).item_id,))
        found = retrieve(pinned, staff.allowlist(), limit=5)
    assert found.results == ()


def test_an_archived_answer_is_not_served_when_its_index_rows_come_back(staff):
    pk = staff.published(REFUND)
    staff.archive(pk)
    with staff.tenant.context(), connection.cursor() as cursor:
        cursor.execute("UPDATE knowledge_lexicalentry SET generation = 1")
    assert staff.heard("能退吗") == []


def test_a_caller_who_does_not_want_it_does_not_hear_the_answer_about_it(staff):
    staff.published(replace(REFUND, question="How do I get a refund?"))
    assert staff.heard("a refund")[0] == ("golden", REFUND.answer)
    assert staff.heard("I do not want a refund") == []


def test_an_answer_written_for_a_refusal_is_heard(staff):
    staff.published(replace(REFUND, question="I do not want a refund"))
    assert staff.heard("I don't want a refund")[0] == ("golden", REFUND.answer)


CARD = replace(
    CONTENT,
    question="How do I cancel my card?",
    answer="Cut it up and call us.",
    paraphrases=(),
)
ACTIVE = replace(
    CONTENT,
    question="How do I keep my card active?",
    answer="Pay with it once a year.",
    paraphrases=(),
)


@pytest.mark.parametrize("order", [1, -1])
def test_who_also_says_what_is_wanted_hears_that_answer_and_not_the_one_about_the_refusal(
    staff, order
):
    staff.published(CARD)
    staff.published(ACTIVE)
    said = ["I don't want to cancel my card", "keep my card active"][::order]
    assert staff.heard(*said) == [("golden", ACTIVE.answer)]


def test_who_says_the_same_refusal_twice_does_not_hear_the_answer_about_it(staff):
    staff.published(CARD)
    assert staff.heard("I don't want to cancel my card", "no quiero cancel my card") == []


def test_a_wish_beside_a_refusal_changes_nothing_of_what_is_no_golden_answer(staff):
    staff.tenant.item("Cancel a card", "How to cancel my card: cut it up.")
    said = ["I don't want to cancel my card", "keep my card active"]
    assert [kind for kind, _ in staff.heard(*said)] == ["knowledge"]
