"""Staff read what one call heard, and ask it again."""

from __future__ import annotations

import uuid

import pytest
from django.utils import timezone

from knowledge.models import SearchRecord
from tests.embedders import CountingEmbedder
from tests.staff import browser, person
from tests.voice import runtime
from tests.world import world

pytestmark = pytest.mark.django_db
HOURS = "When does the pelican lounge open?"
ZEBRA = "zebra crossings"


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


@pytest.fixture
def call(here, voice):
    return voice.session(here.receptionist, call={"id": "c-1", "channel": "phone"})


@pytest.fixture
def viewer(here):
    return browser(person("viewer", (here.acme.organization, "viewer")))


def page(client, session, **asked):
    return client.get(f"/admin/calls/{session}/", asked)


def records(here):
    with here.acme.context():
        return list(SearchRecord.objects.filter(door="voice").order_by("at", "id"))


def test_the_list_of_calls_leads_to_what_each_heard(here, voice, call, viewer):
    voice.search(here.receptionist, call, HOURS)
    listed = viewer.get("/admin/voiceapi/voicesession/").content.decode()
    assert f'<a href="/admin/calls/{call}/">1</a>' in listed


def test_searches_stand_in_the_order_in_which_they_were_asked(here, voice, call, viewer):
    voice.search(here.receptionist, call, HOURS)
    voice.search(here.receptionist, call, ZEBRA)
    told = page(viewer, call)
    assert [one.record.queries for one in told.context["searches"]] == [[HOURS], [ZEBRA]]
    text = told.content.decode()
    assert text.index(HOURS) < text.index(ZEBRA)


def test_status_results_and_milliseconds_of_every_step_are_told(here, voice, call, viewer):
    voice.search(here.receptionist, call, HOURS)
    text = page(viewer, call).content.decode()
    for told in ("chip--ok", "Opening hours", "scope", "embed", "candidates", "fuse", "render"):
        assert told in text


def test_the_scope_at_that_moment_stays_when_the_picks_change(here, voice, call, viewer):
    voice.search(here.receptionist, call, HOURS)
    here.acme.pick(here.receptionist, "knowledge", containers=["help/public/prices"])
    voice.search(here.receptionist, call, HOURS)
    first, second = page(viewer, call).context["searches"]
    assert first.record.scope["knowledge"]["folders"] == ["help/public/hours"]
    assert second.record.scope["knowledge"]["folders"] == ["help/public/prices"]
    assert (first.scope_changed, second.scope_changed) == (False, True)


def test_a_search_ahead_is_heard_only_once_it_was_adopted(here, voice, call, viewer):
    told = voice.search(here.receptionist, call, HOURS, speculative=True).json()
    (one,) = page(viewer, call).context["searches"]
    assert not one.was_used
    voice.search(here.receptionist, call, ZEBRA, adopted=[told["search"]])
    assert page(viewer, call).context["searches"][0].was_used


def test_asking_again_now_gives_the_same_passages(here, voice, call, viewer):
    told = voice.search(here.receptionist, call, HOURS).json()
    again = page(viewer, call, search=told["search"], when="now").context["replay"]
    assert again.is_same
    assert again.asked.answer.digest == told["digest"]


def test_asking_again_as_of_then_takes_the_instant_of_then(here, voice, call, viewer):
    told = voice.search(here.receptionist, call, HOURS).json()
    here.acme.change_item(here.opening_hours, valid_until=timezone.now())
    now = page(viewer, call, search=told["search"], when="now").context["replay"]
    then = page(viewer, call, search=told["search"], when="then").context["replay"]
    assert not now.asked.answer.results
    assert [result.asset_id for result in then.asked.answer.results] == [here.opening_hours]


def test_what_was_deleted_cannot_be_heard_again_and_the_page_says_so(here, voice, call, viewer):
    told = voice.search(here.receptionist, call, HOURS).json()
    here.acme.change_item(here.opening_hours, deleted_at=timezone.now())
    answer = page(viewer, call, search=told["search"], when="then")
    assert not answer.context["replay"].asked.answer.results
    text = answer.content.decode()
    assert "cannot be heard again" in text
    assert "no longer there" in text


def test_a_replay_is_recorded_as_asked_by_staff_and_not_as_part_of_the_call(
    here, voice, call, viewer
):
    told = voice.search(here.receptionist, call, HOURS).json()
    page(viewer, call, search=told["search"], when="now")
    assert len(page(viewer, call).context["searches"]) == 1
    assert len(records(here)) == 1


def test_a_replay_is_not_among_the_searches_that_the_list_counts(here, voice, call, viewer):
    told = voice.search(here.receptionist, call, HOURS).json()
    page(viewer, call, search=told["search"], when="now")
    listed = viewer.get("/admin/voiceapi/voicesession/").content.decode()
    assert f'<a href="/admin/calls/{call}/">1</a>' in listed


def test_a_replay_is_recorded_with_the_call_that_it_came_from(here, voice, call, viewer):
    told = voice.search(here.receptionist, call, HOURS).json()
    page(viewer, call, search=told["search"], when="now")
    with here.acme.context():
        (record,) = SearchRecord.objects.filter(door="staff")
    assert str(record.session_id) == call


def test_a_replay_asks_with_the_pins_and_the_limit_of_then(here, voice, call, viewer):
    first = voice.search(here.receptionist, call, HOURS).json()
    pinned = [first["results"][0]["id"]]
    told = voice.search(
        here.receptionist, call, ZEBRA, follows=first["search"], pinned=pinned, limit=1
    ).json()
    assert page(viewer, call, search=told["search"], when="now").context["replay"].is_same


def test_a_call_of_another_organization_and_one_that_never_was_are_the_same_404(
    here, voice, call, viewer
):
    foreign = runtime(here.globex.organization).session(here.rival)
    answers = [page(viewer, session) for session in (foreign, uuid.uuid4())]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


def test_a_search_of_another_call_cannot_be_asked_again(here, voice, call, viewer):
    other = voice.session(here.receptionist)
    told = voice.search(here.receptionist, other, HOURS).json()
    assert page(viewer, call, search=told["search"], when="now").status_code == 404
    assert page(viewer, call, search="nonsense", when="now").status_code == 404


def test_a_person_without_a_role_sees_no_call(here, call):
    assert page(browser(person("stranger")), call).status_code == 404


def test_each_search_leads_authors_to_its_correction_and_viewers_nowhere(here, voice, call, viewer):
    told = [voice.search(here.receptionist, call, asked).json() for asked in (HOURS, ZEBRA)]
    author = browser(person("author", (here.acme.organization, "author")))
    text = page(author, call).content.decode()
    for address in (f"/admin/golden-correct/{one['search']}/" for one in told):
        assert f'href="{address}"' in text
        assert author.get(address).status_code == 200
    assert "/admin/golden-correct/" not in page(viewer, call).content.decode()


def test_the_page_has_no_script_of_its_own(here, voice, call, viewer):
    voice.search(here.receptionist, call, HOURS)
    text = page(viewer, call).content.decode()
    assert '<form method="get">' in text
    assert "hx-" not in text
