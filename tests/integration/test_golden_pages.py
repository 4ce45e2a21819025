"""The pages on which staff write, compare, approve, publish and look after answers."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from lxml import html

from golden import keeping
from golden.models import GoldenAnswer
from knowledge.models import IndexState
from tenants.models import Membership, User
from tests.answers import CONTENT, Staff
from tests.staff import browser
from tests.world import AT

pytestmark = pytest.mark.django_db
MOVED = replace(CONTENT, answer="The toucan desk has moved to the third floor.")


class Pages:
    """Acme's people at their browsers."""

    def __init__(self):
        self.staff = Staff()
        self.clients = {}

    def as_(self, role):
        if role not in self.clients:
            self.clients[role] = browser(User.objects.get(username=f"acme-{role}"))
        return self.clients[role]

    def get(self, role, path, **query):
        return self.as_(role).get(f"/admin/golden{path}", query)

    def text(self, role, path, **query):
        page = html.fromstring(self.get(role, path, **query).content.decode())
        return " ".join(page.get_element_by_id("content-main").text_content().split())

    def form(self, role, path, **query):
        page = html.fromstring(self.get(role, path, **query).content.decode())
        (form,) = [one for one in page.forms if "golden__form" in (one.get("class") or "")]
        sent: dict[str, list[str]] = {}
        for name, value in form.form_values():
            sent.setdefault(name, []).append(value)
        return sent

    def send(self, role, path, changes=None, **query):
        address = f"/admin/golden{path}"
        if query:
            address += "?" + "&".join(f"{name}={value}" for name, value in query.items())
        return self.as_(role).post(address, {**self.form(role, path, **query), **(changes or {})})


@pytest.fixture
def pages():
    return Pages()


def test_a_draft_is_written_on_the_page_and_heard_by_nobody(pages):
    answer = pages.send(
        "author", "/new/", {"question": "Where?", "answer": "Here.", "paraphrases": "wo?\nوين؟"}
    )
    with pages.staff.tenant.context():
        draft = GoldenAnswer.objects.get().draft
    assert (answer.status_code, draft.paraphrases) == (302, ["wo?", "وين؟"])
    assert pages.staff.heard("where") == []


def test_a_preview_says_how_long_it_takes_and_saves_nothing(pages):
    answer = pages.send(
        "author", "/new/", {"question": "Q?", "answer": "One two three. " * 10, "preview": "1"}
    )
    assert "about 16 seconds" in answer.content.decode()
    with pages.staff.tenant.context():
        assert not GoldenAnswer.objects.exists()


def test_an_answer_that_is_too_long_is_refused_beside_its_field(pages):
    answer = pages.send("author", "/new/", {"question": "Q?", "answer": "x" * 1_201})
    assert answer.status_code == 200
    assert "at most 1200 characters" in answer.content.decode()


def test_a_coverage_link_brings_the_question_along(pages):
    form = pages.form("author", "/new/", question="Do you open?", paraphrases="open?\nhours?")
    assert form["question"] == ["Do you open?"]
    assert form["paraphrases"][0].split() == ["open?", "hours?"]


def test_a_stale_tab_sees_both_texts_and_loses_nothing(pages):
    pk = pages.staff.write()
    stale = pages.form("author", f"/{pk}/edit/")
    pages.staff.edit(pk, replace(CONTENT, answer="Theirs, newer."))
    answer = pages.as_("author").post(f"/admin/golden/{pk}/edit/", {**stale, "answer": "Mine."})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "newer" in page
    assert "Mine." in page


def test_what_a_stale_tab_wrote_can_be_saved_over_the_newer_text(pages):
    pk = pages.staff.write()
    stale = pages.form("author", f"/{pk}/edit/")
    pages.staff.edit(pk, replace(CONTENT, answer="Theirs, newer."))
    conflict = pages.as_("author").post(f"/admin/golden/{pk}/edit/", {**stale, "answer": "Mine."})
    page = html.fromstring(conflict.content.decode())
    (form,) = [one for one in page.forms if "golden__form" in (one.get("class") or "")]
    sent = dict(form.form_values())
    assert pages.as_("author").post(f"/admin/golden/{pk}/edit/", sent).status_code == 302
    with pages.staff.tenant.context():
        assert GoldenAnswer.objects.get().draft.answer == "Mine."


def test_an_answer_goes_live_by_request_and_approval_of_two_people(pages):
    pk = pages.staff.write()
    pages.send("author", f"/{pk}/request/", {"reason": "The desk is new."})
    assert "The desk is new." in pages.text("approver", f"/{pk}/")
    answer = pages.send("approver", f"/{pk}/approve/")
    assert answer.status_code == 302
    assert pages.staff.heard() == [("golden", CONTENT.answer)]


def test_the_queue_shows_what_waits_and_for_whom(pages):
    pk = pages.staff.write()
    pages.staff.request(pk)
    address = "/admin/golden-queue/"
    asked = pages.as_("author").get(address).content.decode()
    assert "somebody else decides" in asked
    assert f"/admin/golden/{pk}/approve/" in pages.as_("approver").get(address).content.decode()


def test_the_overview_tells_an_approver_what_waits(pages):
    pages.staff.request(pages.staff.write())
    assert "1 answer waits for approval." in pages.as_("approver").get("/admin/").content.decode()


def test_a_confirm_page_says_what_changes_for_whom(pages):
    pk = pages.staff.published()
    pages.staff.edit(pk, replace(MOVED, channels=("chat",)))
    text = pages.text("publisher", f"/{pk}/override/")
    assert "Only for these channels: chat." in text
    assert "moved to the third floor" in text
    assert "callers who ask this hear the new text" in text


def test_an_override_without_a_reason_publishes_nothing(pages):
    pk = pages.staff.write()
    assert pages.send("publisher", f"/{pk}/override/").status_code == 200
    assert pages.staff.heard() == []


def test_a_confirm_page_of_yesterday_does_nothing_today(pages):
    pk = pages.staff.published()
    stale = pages.form("publisher", f"/{pk}/archive/")
    keeping.verify(pages.staff.organization.pk, pk, pages.staff.act("author"))
    answer = pages.as_("publisher").post(f"/admin/golden/{pk}/archive/", stale)
    assert answer.status_code == 409
    assert "Nothing was done" in answer.content.decode()
    assert pages.staff.heard() == [("golden", CONTENT.answer)]


def test_an_approval_of_a_draft_that_was_edited_since_is_refused_in_words(pages):
    pk = pages.staff.write()
    pages.staff.request(pk)
    stale = pages.form("approver", f"/{pk}/approve/")
    pages.staff.edit(pk, MOVED)
    answer = pages.as_("approver").post(f"/admin/golden/{pk}/approve/", stale)
    assert answer.status_code == 409
    assert pages.staff.heard() == []


def test_who_asked_cannot_approve_on_the_page(pages):
    pk = pages.staff.write()
    pages.staff.request(pk)
    author = pages.staff.people["author"].user_id
    Membership.objects.create(
        user_id=author, organization=pages.staff.organization, role="approver"
    )
    answer = pages.send("author", f"/{pk}/approve/")
    assert answer.status_code == 409
    assert "Somebody else than the one who asked" in answer.content.decode()


def test_a_version_is_rolled_back_to_from_the_list_of_versions(pages):
    pk = pages.staff.published()
    pages.staff.edit(pk, MOVED)
    pages.staff.publish(pk)
    assert "Roll back to version 1" in pages.text("publisher", f"/{pk}/")
    pages.send("publisher", f"/{pk}/roll-back/", version=1)
    assert pages.staff.heard() == [("golden", CONTENT.answer)]


def test_any_two_versions_stand_side_by_side_with_their_words_marked(pages):
    pk = pages.staff.published()
    pages.staff.edit(pk, MOVED)
    pages.staff.publish(pk)
    page = html.fromstring(pages.get("viewer", f"/{pk}/compare/", left=1, right=2).content.decode())
    assert ([d.text for d in page.iter("del")], [i.text for i in page.iter("ins")]) == (
        ["is", "on", "second"], ["has", "moved to", "third"]
    )  # fmt: skip


def test_a_schedule_is_kept_in_the_draft_and_asks_for_publication(pages):
    pk = pages.staff.published()
    answer = pages.send("author", f"/{pk}/schedule/", {"valid_until": "2030-01-01T00:00"})
    assert answer.headers["Location"].endswith(f"/{pk}/request/")
    with pages.staff.tenant.context():
        assert str(GoldenAnswer.objects.get().draft.valid_until).startswith("2030")


def test_history_reads_as_sentences(pages):
    pk = pages.staff.published()
    pages.staff.archive(pk)
    text = pages.text("viewer", f"/{pk}/")
    assert "acme-approver approved version 1, which made it live." in text
    assert "acme-publisher archived the answer; nothing of it is served any more." in text


def test_an_owner_and_an_interval_are_set_on_the_page(pages):
    pk = pages.staff.published()
    owner = str(pages.staff.people["author"].user_id)
    pages.send("author", f"/{pk}/assign/", {"owner": owner, "review_days": "30"})
    assert pages.staff.row(pk).review_days == 30


def test_a_failed_index_entry_shows_its_reason_and_a_button(pages):
    pk = pages.staff.published()
    with pages.staff.tenant.context():
        IndexState.objects.update(status="failed", last_error="The provider refused it.")
    assert "Failed: The provider refused it." in pages.text("author", f"/{pk}/")
    answer = pages.as_("author").post(f"/admin/golden/{pk}/retry/")
    with pages.staff.tenant.context():
        assert (answer.status_code, IndexState.objects.get().status) == (302, "pending")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, {"live", "draft"}),
        ({"status": "live"}, {"live"}),
        ({"status": "draft"}, {"draft"}),
        ({"status": "archived"}, {"archived"}),
        ({"status": "overdue"}, {"live"}),
        ({"q": "draft"}, {"draft"}),
        ({"index": "failed"}, set()),
        ({"kind": "rule"}, {"rule"}),
    ],
)
def test_the_list_is_filtered(pages, query, found):
    staff = pages.staff
    live = staff.published(replace(CONTENT, question="the live one"))
    staff.write(replace(CONTENT, question="the draft one"))
    staff.archive(staff.published(replace(CONTENT, question="the archived one")))
    staff.write(replace(CONTENT, question="the rule one"), kind="rule")
    act = staff.act("author", at=AT - timedelta(days=9_999))
    keeping.verify(staff.organization.pk, live, act)
    text = pages.text("viewer", "/", **query)
    assert {
        word for word in ("live", "draft", "archived", "rule") if f"the {word} one" in text
    } == found


def test_the_list_costs_the_same_number_of_statements_for_many_rows(pages):
    def statements():
        with CaptureQueriesContext(connection) as captured:
            pages.get("viewer", "/")
        return len(captured)

    pages.staff.write()
    statements()
    one = statements()
    for number in range(12):
        pages.staff.write(replace(CONTENT, question=f"Number {number}?"))
    assert statements() == one


PATHS = ("/{pk}/", "/{pk}/edit/", "/{pk}/archive/", "/{pk}/compare/?left=1&right=1")


@pytest.mark.parametrize("path", PATHS)
def test_a_foreign_answer_and_a_missing_one_are_the_same_404(pages, path):
    rival = Staff("globex")
    theirs = rival.published()
    client = pages.as_("publisher")
    answers = [client.get(f"/admin/golden{path.format(pk=pk)}") for pk in (theirs, uuid.uuid4())]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize(
    ("role", "path", "status"),
    [
        ("viewer", "/{pk}/", 200),
        ("viewer", "/{pk}/edit/", 403),
        ("author", "/{pk}/edit/", 200),
        ("viewer", "/{pk}/verify/", 403),
        ("author", "/{pk}/archive/", 403),
        ("approver", "/{pk}/override/", 403),
        ("publisher", "/{pk}/archive/", 200),
        ("viewer", "/new/", 403),
        ("viewer", "/{pk}/nonsense/", 404),
        ("publisher", "/{pk}/roll-back/?version=9", 404),
        ("publisher", "/{pk}/roll-back/?version=x", 404),
    ],
)
def test_pages_are_for_those_with_the_role(pages, role, path, status):
    pk = pages.staff.published()
    assert pages.as_(role).get(f"/admin/golden{path.format(pk=pk)}").status_code == status


def test_a_missing_role_changes_nothing(pages):
    pk = pages.staff.published()
    form = pages.form("publisher", f"/{pk}/archive/")
    assert pages.as_("author").post(f"/admin/golden/{pk}/archive/", form).status_code == 403
    assert pages.staff.row(pk).archived_at is None


def test_only_a_publisher_compares_with_the_index(pages):
    pages.staff.published()
    address = "/admin/golden-index/"
    assert pages.as_("author").post(address).status_code == 403
    assert pages.as_("publisher").post(address).status_code == 302
