"""Before publishing, staff see what an answer would do; what they saw is kept with what they did."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from lxml import html

from golden.checks import check
from golden.figures import alike, figures, same_thing
from knowledge.errors import EmbeddingUnavailable
from knowledge.models import SearchRecord
from tenants.models import AuditEntry, User
from tests.answers import CONTENT, Staff
from tests.embedders import CountingEmbedder
from tests.staff import browser

pytestmark = pytest.mark.django_db
REFUND = replace(
    CONTENT,
    question="How long does a refund take?",
    answer="A refund takes 5 working days.",
    paraphrases=("When do I get my refund?",),
)
NOW = datetime.now(tz=UTC)


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    embedder = CountingEmbedder()
    for place in ("scopes.asking", "golden.staff.checking"):
        monkeypatch.setattr(f"{place}.current_embedder", lambda: embedder)
    return embedder


@pytest.fixture
def staff():
    return Staff()


def log(staff, *texts, **columns):
    with staff.tenant.context():
        for text in texts:
            SearchRecord.objects.create(
                **{
                    "organization": staff.organization, "at": NOW - timedelta(days=1),
                    "agent": staff.agent, "status": "ok", "queries": [text],
                    "instruction_mode": "all", "knowledge_mode": "all",
                } | columns
            )  # fmt: skip


def checked(staff, embedder, content=REFUND):
    pk = staff.write(content)
    row = staff.row(pk)
    with staff.tenant.context():
        agent = type(staff.agent).objects.select_related("organization").get(pk=staff.agent.pk)
    return check(row, content, agent, embedder, at=NOW)


def test_logged_questions_that_are_asked_alike_would_be_answered(staff, embedder):
    log(staff, "when do i get my refund", "Do you sell umbrellas in winter?")
    assert checked(staff, embedder).would_answer == ["when do i get my refund"]


def test_what_a_caller_asked_is_not_written_down_again_by_a_check(staff, embedder):
    log(staff, "when do i get my refund")
    assert checked(staff, embedder).would_answer
    with staff.tenant.context():
        assert SearchRecord.objects.count() == 1


def test_questions_of_long_ago_and_of_staff_are_not_looked_at(staff, embedder):
    log(staff, "when do i get my refund", at=NOW - timedelta(days=31))
    log(staff, "when do i get my refund", door="staff")
    assert checked(staff, embedder).would_answer == []


def test_a_refusal_among_the_logged_questions_is_not_counted(staff, embedder):
    log(staff, "I do not want a refund")
    assert checked(staff, embedder).would_answer == []


def test_an_answer_that_comes_first_now_is_told_as_competing(staff, embedder):
    staff.published(replace(REFUND, question="When do I get my refund?", paraphrases=()))
    displaced = {one.text: one.first for one in checked(staff, embedder).displaced}
    assert displaced["When do I get my refund?"] == "When do I get my refund?"


def test_a_paraphrase_that_refuses_is_pointed_out(staff, embedder):
    content = replace(REFUND, paraphrases=("I do not want a refund",))
    assert checked(staff, embedder, content).negations == ["I do not want a refund"]


def test_a_figure_that_knowledge_gives_otherwise_is_pointed_out(staff, embedder):
    staff.tenant.item("Refunds", "How long? A refund takes 7 working days by card.")
    (found,) = checked(staff, embedder).contradictions
    assert (found.figure, found.other, found.title) == ("5", "7", "Refunds")


def test_a_figure_that_counts_something_else_is_not(staff, embedder):
    staff.tenant.item("Refunds", "How long does a refund take? Call line 7 for details.")
    assert checked(staff, embedder).contradictions == []


def test_figures_are_known_by_the_words_around_them():
    (words, figure), *_ = figures("A refund takes 5 working days.")
    assert (figure, same_thing(words, frozenset({"refund", "working"}))) == ("5", True)
    assert not alike("5", "08:30")


def test_what_was_seen_is_in_the_audit_entry_of_what_was_done(staff):
    staff.tenant.item("Refunds", "How long? A refund takes 7 working days by card.")
    pk = staff.write(REFUND)
    client = browser(User.objects.get(pk=staff.people["publisher"].user_id))
    page = html.fromstring(client.get(f"/admin/golden/{pk}/checks/").content.decode())
    (link,) = [a for a in page.iter("a") if "/override/?seen" in (a.get("href") or "")]
    confirm = html.fromstring(client.get(link.get("href")).content.decode())
    (form,) = [one for one in confirm.forms if "golden__form" in (one.get("class") or "")]
    client.post(f"/admin/golden/{pk}/override/", dict(form.form_values()) | {"reason": "Known."})
    with staff.tenant.context():
        seen = AuditEntry.objects.get(verb="golden.override").after["seen"]
    assert seen["contradictions"] == ["5 / 7: Refunds"]


def test_what_somebody_made_up_is_not_noted(staff):
    pk = staff.write(REFUND)
    client = browser(User.objects.get(pk=staff.people["publisher"].user_id))
    sent = {"lock_version": 1, "reason": "R.", "seen": "made:up"}
    client.post(f"/admin/golden/{pk}/override/", sent)
    with staff.tenant.context():
        assert "seen" not in AuditEntry.objects.get(verb="golden.override").after


def test_checks_still_show_when_the_embedder_is_away(staff):
    def away(_texts):
        raise EmbeddingUnavailable

    log(staff, "when do i get my refund")
    result = checked(staff, CountingEmbedder(before=away))
    assert (result.is_complete, result.would_answer) == (False, [])
