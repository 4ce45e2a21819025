"""Staff ask as an agent: the same answer as over HTTP, and a reason for every row."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from knowledge.models import IndexState, SearchRecord
from tenants.models import Membership
from tests.embedders import CountingEmbedder
from tests.staff import browser, person
from tests.voice import runtime
from tests.world import world

pytestmark = pytest.mark.django_db
HOURS = "When does the pelican lounge open?"


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


@pytest.fixture
def here():
    return world()


@pytest.fixture
def viewer(here):
    return browser(person("viewer", (here.acme.organization, "viewer")))


def ask(client, agent, **asked):
    headers = {"HX-Request": "true"} if asked.pop("htmx", False) else {}
    return client.get(f"/admin/agents/{agent.pk}/search/", asked, headers=headers)


def run(*words, **options):
    said = StringIO()
    call_command(*words, stdout=said, **options)
    return said.getvalue()


def test_the_page_answers_what_the_voice_door_answers(here, viewer):
    voice = runtime(here.acme.organization)
    heard = voice.search(here.receptionist, voice.session(here.receptionist), HOURS).json()
    answer = ask(viewer, here.receptionist, q1=HOURS).context["answer"]
    assert (answer.status, answer.digest, answer.guidance) == (
        heard["status"], heard["digest"], heard["guidance"],
    )  # fmt: skip
    assert [r.content for r in answer.results] == [r["content"] for r in heard["results"]]


def test_staff_see_legs_ranks_and_timings(here, viewer):
    page = ask(viewer, here.receptionist, q1=HOURS).content.decode()
    assert "lexical 1" in page
    assert "relevance" in page
    assert "candidates" in page


def test_a_search_of_staff_is_recorded_apart(here, viewer):
    ask(viewer, here.receptionist, q1=HOURS)
    with here.acme.context():
        assert SearchRecord.objects.values_list("door", flat=True).get() == "staff"


def test_an_empty_page_searches_nothing(here, viewer):
    page = ask(viewer, here.receptionist)
    assert (page.status_code, page.context.get("answer")) == (200, None)
    with here.acme.context():
        assert not SearchRecord.objects.exists()


def test_a_script_gets_the_results_alone(here, viewer):
    fragment = ask(viewer, here.receptionist, q1=HOURS, htmx=True).content.decode()
    assert fragment.strip().startswith('<div id="results"')


def test_a_script_that_is_signed_out_is_told_so(here):
    answer = ask(browser(None), here.receptionist, q1=HOURS, htmx=True)
    assert answer.status_code == 401


def test_mistakes_are_told_and_nothing_is_searched(here, viewer):
    page = ask(viewer, here.receptionist, q1=HOURS, country="Germany", contact="nobody")
    assert set(page.context["form"].errors) == {"country", "contact"}
    assert "answer" not in page.context


def test_a_row_outside_the_scope_is_kept_out_by_the_scope(here, viewer):
    page = ask(viewer, here.receptionist, q1=HOURS, why=str(here.price_list))
    assert page.context["reason"].kept_out_by == ["allowlist"]


def test_a_row_that_is_found_says_so(here, viewer):
    page = ask(viewer, here.receptionist, q1=HOURS, why="Opening hours")
    assert page.context["reason"].place == "It is result 1."
    assert page.context["reason"].kept_out_by == []


GATES: dict[str, dict[str, Any]] = {
    "lifecycle": {"review_status": "pending"},
    "dataset": {"dataset": "conversations"},
    "deleted": {"deleted_at": timezone.now()},
    "visibility": {"visibility": "internal"},
    "channel": {"channel_restricted": True, "channels": ["whatsapp"]},
    "segment": {"segment_restricted": True},
    "jurisdiction": {"jurisdiction_restricted": True, "jurisdictions": ["DE"]},
    "validity": {"valid_until": timezone.now() - timedelta(days=1)},
    "agent": {"agent_restricted": True},
}


@pytest.mark.parametrize("gate", GATES)
def test_the_gate_that_keeps_a_row_out_is_named(here, viewer, gate):
    here.acme.change_item(here.opening_hours, **GATES[gate])
    page = ask(viewer, here.receptionist, why=str(here.opening_hours))
    assert page.context["reason"].kept_out_by == [gate]


def test_the_instant_and_the_caller_can_be_chosen(here, viewer):
    segment = here.acme.segment("gold")
    here.acme.contact("crm-1", segment)
    here.acme.change_item(
        here.opening_hours, segment_restricted=True, segments=[segment.pk], jurisdiction_restricted=True,
        jurisdictions=["DE"], valid_until=timezone.now() - timedelta(days=1),
    )  # fmt: skip
    then = (timezone.now() - timedelta(days=2)).strftime("%Y-%m-%dT%H:%M")
    asked = {"q1": HOURS, "contact": "crm-1", "country": "de", "at": then}
    assert len(ask(viewer, here.receptionist, **asked).context["shown"]) == 1


def test_an_index_that_is_behind_is_told(here, viewer):
    page = ask(viewer, here.receptionist, why=str(here.opening_hours))
    assert "The index is behind (pending)" in page.content.decode()
    with here.acme.context():
        IndexState.objects.update(applied_generation=1, status="live")
    page = ask(viewer, here.receptionist, why=str(here.opening_hours))
    assert "holds it as it is now" in page.content.decode()


def test_several_rows_of_a_name_are_offered_to_choose_from(here, viewer):
    here.acme.item("Opening hours of the pool", "The pool opens at eight.")
    page = ask(viewer, here.receptionist, why="opening")
    assert {one.title for one, _ in page.context["choices"]} == {
        "Opening hours", "Opening hours of the pool",
    }  # fmt: skip


def test_a_row_of_another_organization_has_no_name_here(here, viewer):
    page = ask(viewer, here.receptionist, why=str(here.rival_secret))
    assert page.context["choices"] == []


def test_an_agent_of_another_organization_is_not_there(here, viewer):
    assert ask(viewer, here.rival, q1=HOURS).status_code == 404


def test_a_member_of_two_organizations_searches_as_agents_of_both(here, viewer):
    Membership.objects.create(
        user_id=viewer.session["_auth_user_id"],
        organization=here.globex.organization,
        role="viewer",
    )
    assert ask(viewer, here.rival, q1=HOURS).status_code == 200


def test_the_command_finds_what_the_page_finds(here, viewer):
    told = json.loads(run("search", HOURS, agent="acme/receptionist", json=True))
    assert told["digest"] == ask(viewer, here.receptionist, q1=HOURS).context["answer"].digest
    assert told["results"][0]["title"] == "Opening hours"


def test_the_command_explains_in_words(here):
    said = run("explain", "Price list", agent="acme/receptionist", query=HOURS)
    assert "may not be said" in said
    assert "NO  In the agent's scope" in said


def test_the_commands_refuse_unknown_names(here):
    for words, options in (
        (("search", HOURS), {"agent": "acme/nobody"}),
        (("search", HOURS), {"agent": "acme/receptionist", "contact": "nobody"}),
        (("explain", "nothing"), {"agent": "acme/receptionist"}),
        (("explain", str(here.rival_secret)), {"agent": "acme/receptionist"}),
    ):
        with pytest.raises(CommandError):
            run(*words, **options)
