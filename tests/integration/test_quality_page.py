from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from knowledge.models import SearchRecord
from search import drift as drifting
from search.drift import Spread, drift
from search.runs import last_runs
from tests.staff import office

pytestmark = pytest.mark.django_db
PAGE = "/admin/quality/"
LAPS = {"embed": 10.0, "scope": 2.0, "candidates": 5.0, "fuse": 1.0, "render": 2.0}


@pytest.fixture
def staff(settings, tmp_path):
    settings.RUNS_FOLDER = str(tmp_path)
    return office()


def record(one, agent, *, days_ago=1.0, status="ok", door="voice", relevance=0.9, **more):
    with one.context():
        return SearchRecord.objects.create(
            organization=one.organization, agent=agent, door=door, status=status,
            at=timezone.now() - timedelta(days=days_ago), queries=["whisper of a caller"],
            results=[{"relevance": relevance}] if status == "ok" else [], timings_ms=LAPS,
            instruction_mode="all", knowledge_mode="all", **more,
        )  # fmt: skip


def test_shares_times_days_and_agents_are_counted(staff):
    desk, other = staff.rows["phoneagent"], staff.acme.agent("night-desk")
    record(staff.acme, desk)
    record(staff.acme, desk, status="no_match")
    record(staff.acme, desk, days_ago=3.0, relevance=0.6)
    record(staff.acme, other, days_ago=3.0, degraded=["dense"])
    record(staff.acme, other, days_ago=3.0, status="timeout")
    found = drift(staff.acme.organization.pk, days=7, at=timezone.now())
    assert (found.all.searches, found.all.no_match, found.all.weak, found.all.degraded) == (
        5,
        1,
        1,
        2,
    )
    assert (found.all.no_match_percent, found.all.steps["embed"].p50) == (20.0, 10.0)
    assert found.all.total == Spread(20.0, 20.0)
    assert [fared.searches for _, fared in found.days] == [3, 2]
    assert {pk: fared.searches for pk, fared in found.agents} == {desk.pk: 3, other.pk: 2}


def test_what_staff_asked_and_what_is_too_old_does_not_count(staff):
    desk = staff.rows["phoneagent"]
    record(staff.acme, desk, door="staff")
    record(staff.acme, desk, days_ago=8.0)
    assert drift(staff.acme.organization.pk, days=7, at=timezone.now()).all.searches == 0


def test_another_organization_s_searches_never_count(staff):
    record(staff.globex, None)
    assert drift(staff.acme.organization.pk, days=7, at=timezone.now()).all.searches == 0


def test_only_the_newest_are_counted_in_one_statement(staff, monkeypatch):
    monkeypatch.setattr(drifting, "MOST", 3)
    for number in range(5):
        record(staff.acme, staff.rows["phoneagent"], days_ago=1 + number / 10)
    with CaptureQueriesContext(
        connection,
    ) as told:
        found = drift(staff.acme.organization.pk, days=7, at=timezone.now())
    assert (found.all.searches, found.is_cut) == (3, True)
    assert sum("percentile_cont" in query["sql"] for query in told) == 1


def test_the_page_says_it_in_words_in_a_picture_and_in_a_table_without_what_was_asked(staff):
    for days_ago in (1.0, 2.0, 12.0):
        record(staff.acme, staff.rows["phoneagent"], days_ago=days_ago)
    text = staff.as_("viewer").get(PAGE).content.decode()
    assert "3 searches in 30 days: 0.0 % without a match" in text
    assert "Half took 20 ms at most" in text
    assert text.count("<polyline") == 5
    assert 'scope="row"' in text
    assert "whisper" not in text


def test_agent_and_range_are_chosen_in_the_address(staff):
    other = staff.acme.agent("night-desk")
    record(staff.acme, staff.rows["phoneagent"])
    record(staff.acme, other, days_ago=20.0)
    client = staff.as_("viewer")
    assert client.get(PAGE).context["drift"].all.searches == 2
    assert client.get(PAGE, {"days": "7"}).context["drift"].all.searches == 1
    asked = {"agent": "night-desk", "days": "30"}
    assert client.get(PAGE, asked).context["drift"].all.searches == 1
    assert client.get(PAGE, {"days": "nonsense"}).context["chosen"].days == 30


@pytest.mark.parametrize(
    "asked",
    [
        {"organization": "globex"},
        {"organization": "nowhere"},
        {"agent": "rival-desk"},
        {"agent": "x"},
    ],
)
def test_what_is_another_organization_s_and_what_is_not_there_are_one_answer(staff, asked):
    answers = [staff.as_("viewer").get(PAGE, one) for one in (asked, {"organization": "never"})]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


def test_a_stranger_is_refused(staff):
    assert staff.as_("stranger").get(PAGE).status_code == 403


def test_without_a_run_the_committed_figures_are_shown(staff):
    runs = last_runs()
    assert runs.is_baseline
    assert {one.name for one in runs.sets} >= {"howto_bc"}
    text = staff.as_("viewer").get(PAGE).content.decode()
    assert "howto_bc" in text
    assert "figures that ship with Earmark" in text
    assert "No run of <code>make bench</code>" in text


def test_the_last_runs_are_shown(staff, tmp_path):
    figures = {"all": {"nDCG@10": 0.875, "recall@5": 0.9}}
    at = "2026-03-02T09:30:00+00:00"
    (tmp_path / "eval.json").write_text(
        json.dumps({"sets": {"mine": {"at": at, "figures": figures}}})
    )
    part = {
        "at": at,
        "seconds": 3,
        "figures": {"cells": [{"scope": "10 %", "p50": 1.5}], "ratio": {"copy": 3.25}},
        "faults": ["Too slow."],
    }
    (tmp_path / "bench.json").write_text(json.dumps({"parts": {"dense": part}}))
    text = staff.as_("viewer").get(PAGE).content.decode()
    for told in ("mine", "0.875", "2026-03-02", ">p50<", "Too slow.", "10 %", "3.25"):
        assert told in text


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"sets": 3, "parts": {"a": 1}}', '{"sets": {"a": {}}}']
)
def test_a_damaged_file_counts_as_none(staff, tmp_path, content):
    for name in ("eval.json", "bench.json"):
        (tmp_path / name).write_text(content)
    runs = last_runs()
    assert runs.is_baseline
    assert runs.parts == ()
