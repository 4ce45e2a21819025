"""What callers asked is grouped by meaning, with what answered it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from lxml import html

from golden.coverage import count_asked, coverage
from golden.remembering import KEPT_FOR, Counts
from knowledge.errors import EmbeddingUnavailable
from knowledge.models import SearchRecord
from tenants.models import User
from tests.answers import CONTENT, Staff
from tests.embedders import CountingEmbedder
from tests.staff import browser

pytestmark = pytest.mark.django_db
NOW = datetime.now(tz=UTC)
DOG = "may I bring my little dog along today"
ALIKE = "please may I bring my little dog along today"


@pytest.fixture
def staff():
    return Staff()


def log(staff, text, *results, **columns):
    with staff.tenant.context():
        SearchRecord.objects.create(
            **{
                "organization": staff.organization, "at": NOW - timedelta(days=1),
                "agent": staff.agent, "status": "ok", "queries": [text],
                "results": [{"type": kind, "id": str(pk)} for kind, pk in results],
                "instruction_mode": "all", "knowledge_mode": "all",
            } | columns
        )  # fmt: skip


def seen(staff, embedder=None):
    asked = count_asked(staff.organization.pk, embedder or CountingEmbedder(), at=NOW)
    return coverage(staff.organization.pk, asked)


def test_questions_of_one_meaning_are_one_group_with_its_count(staff):
    log(staff, DOG)
    log(staff, f"{DOG.upper()} ")
    log(staff, ALIKE)
    log(staff, "when does the pelican lounge open")
    assert [(g.text.lower().strip(), g.times) for g in seen(staff).groups] == [
        (DOG.lower(), 3),
        ("when does the pelican lounge open", 1),
    ]


def test_a_group_says_what_came_first(staff):
    pk = staff.published()
    log(staff, DOG, ("golden", pk), ("knowledge", 1))
    log(staff, DOG, ("knowledge", 1))
    log(staff, DOG)
    (group,) = seen(staff).groups
    assert group.answered == {"golden": 1, "knowledge": 1, "nothing": 1}


def test_searches_that_nobody_heard_do_not_count(staff):
    log(staff, DOG, speculative=True)
    log(staff, DOG, door="staff")
    log(staff, DOG, at=NOW - timedelta(days=31))
    assert seen(staff).groups == ()


def test_a_speculative_search_that_was_adopted_counts(staff):
    log(staff, DOG, speculative=True, adopted=True)
    assert seen(staff).asked.searches == 1


def test_answers_that_nobody_heard_are_listed(staff):
    heard, unheard = staff.published(), staff.published()
    log(staff, DOG, ("golden", heard))
    assert seen(staff).unused == [(str(unheard), CONTENT.question)]


def test_answers_that_come_up_for_the_same_question_compete(staff):
    one, other = staff.published(), staff.published()
    log(staff, DOG, ("golden", one), ("golden", other))
    assert seen(staff).competing == [(CONTENT.question, CONTENT.question, 1)]


def test_without_the_embedder_every_question_stands_alone(staff):
    def away(_texts):
        raise EmbeddingUnavailable

    log(staff, DOG)
    found = seen(staff, CountingEmbedder(before=away))
    assert (found.asked.is_grouped, len(found.groups)) == (False, 1)


def test_the_page_opens_a_draft_with_question_and_paraphrases_filled_in(staff, monkeypatch):
    monkeypatch.setattr("golden.staff.covering.current_embedder", CountingEmbedder)
    log(staff, DOG)
    log(staff, DOG)
    log(staff, ALIKE)
    client = browser(User.objects.get(pk=staff.people["author"].user_id))
    page = html.fromstring(client.get("/admin/golden-coverage/").content.decode())
    (link,) = [a for a in page.iter("a") if "/golden/new/" in (a.get("href") or "")]
    brought = parse_qs(urlsplit(link.get("href")).query)
    assert brought["question"] == [DOG]
    assert brought["paraphrases"] == [ALIKE]


def counted(counts, staff, at=NOW, **options):
    embedder = options.pop("embedder", None) or CountingEmbedder()
    asked = counts.asked(staff.organization.pk, embedder, at=at, **options)
    return asked.searches


def test_what_was_counted_is_kept_for_a_while(staff):
    counts = Counts()
    log(staff, DOG)
    assert counted(counts, staff) == 1
    log(staff, DOG)
    assert counted(counts, staff, NOW + KEPT_FOR / 2) == 1
    assert counted(counts, staff, NOW + KEPT_FOR) == 2


def test_counting_again_is_a_choice(staff):
    counts = Counts()
    log(staff, DOG)
    assert counted(counts, staff) == 1
    log(staff, DOG)
    assert counted(counts, staff, anew=True) == 2


def test_one_organization_s_counts_are_not_another_s(staff):
    counts = Counts()
    log(staff, DOG)
    assert counted(counts, staff) == 1
    assert counted(counts, Staff("globex")) == 0


def test_questions_that_could_not_be_grouped_are_counted_again(staff):
    def away(_texts):
        raise EmbeddingUnavailable

    counts = Counts()
    log(staff, DOG)
    assert counted(counts, staff, embedder=CountingEmbedder(before=away)) == 1
    assert counts.asked(staff.organization.pk, CountingEmbedder(), at=NOW).is_grouped


def test_the_page_is_paged_and_says_when_there_is_nothing(staff, monkeypatch):
    monkeypatch.setattr("golden.staff.covering.current_embedder", CountingEmbedder)
    # Nothing is so near, so each question stands alone.
    monkeypatch.setattr("golden.coverage.NEAR", 2.0)
    client = browser(User.objects.get(pk=staff.people["viewer"].user_id))
    assert "No caller has asked anything" in client.get("/admin/golden-coverage/").content.decode()
    for number in range(60):
        log(staff, f"question number {number}")
    first = client.get("/admin/golden-coverage/").content.decode()
    assert "Page 1 of 2" in first
    assert "Page 2 of 2" in client.get("/admin/golden-coverage/?page=2").content.decode()
    none = client.get("/admin/golden-coverage/?answered=golden").content.decode()
    assert "Nothing was asked like that." in none
