"""A search over HTTP: who hears what, and what is kept of it."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from knowledge.indexing.writing import Gates, only
from knowledge.models import SearchRecord
from tenants.keys import revoke_key
from tenants.models import ContactSegment, Organization, PhoneAgent, ServiceKey
from tests.embedders import CountingEmbedder
from tests.voice import names, runtime
from tests.world import BY, world
from voiceapi.models import VoiceSession

pytestmark = pytest.mark.django_db
HOURS = "When does the pelican lounge open?"
PRICES = "What does a flamingo ticket cost?"


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    embedder = CountingEmbedder()
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: embedder)
    return embedder


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


@pytest.fixture
def session(here, voice):
    return voice.session(here.receptionist)


def found(answer):
    return [result["id"] for result in answer.json()["results"]]


def record(here, answer):
    with here.acme.context():
        return SearchRecord.objects.get(pk=answer.json()["search"])


def test_a_granted_sentence_is_found(here, voice, session):
    answer = voice.search(here.receptionist, session, HOURS)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert found(answer) == [str(here.opening_hours)]
    assert answer.json()["results"][0]["content"] == (
        "The pelican lounge opens at seven in the morning."
    )


def test_the_facts_of_a_turn_change_nothing_that_is_found(here, voice, session):
    here.acme.item("Fees", "The pelican lounge costs nine.", folder="public/hours",
                   gates=Gates(jurisdictions=only("AE")))  # fmt: skip
    without = voice.search(here.receptionist, session, "pelican lounge")
    turn = {"call": {"country": "AE", "channel": "phone", "language": "en"}}
    told = voice.search(here.receptionist, session, "pelican lounge", turn_context=turn)
    assert found(told) == found(without) == [str(here.opening_hours)]
    assert told.json()["digest"] == without.json()["digest"]


def test_an_ungranted_sentence_is_not_found(here, voice, session):
    answer = voice.search(here.receptionist, session, PRICES)
    assert (answer.status_code, answer.json()["status"], found(answer)) == (200, "no_match", [])
    assert answer.json()["guidance"]


def test_an_agent_with_nothing_left_is_restricted_empty(here, voice):
    session = voice.session(here.apprentice)
    answer = voice.search(here.apprentice, session, HOURS)
    assert (answer.status_code, answer.json()["status"]) == (200, "restricted_empty")
    assert answer.json()["guidance"]


def test_the_envelope_is_the_same_in_every_status(here, voice, session):
    shapes = {
        tuple(voice.search(here.receptionist, session, query).json()) for query in (HOURS, PRICES)
    }
    assert shapes == {("status", "search", "digest", "degraded", "guidance", "results")}


def test_no_score_leaves_the_server(here, voice, session):
    result = voice.search(here.receptionist, session, HOURS).json()["results"][0]
    assert list(result) == ["type", "id", "chunk", "title", "content", "url", "valid_until"]


def test_the_same_search_has_the_same_digest(here, voice, session):
    digests = {voice.search(here.receptionist, session, HOURS).json()["digest"] for _ in range(2)}
    assert len(digests) == 1


def test_removing_a_pick_takes_effect_on_the_next_search(here, voice, session):
    here.acme.pick(here.receptionist, "knowledge", containers=["help/public/prices"])
    assert found(voice.search(here.receptionist, session, HOURS)) == []
    assert found(voice.search(here.receptionist, session, PRICES)) == [str(here.price_list)]


def test_a_segment_opens_content_for_its_contacts_only(here, voice):
    gold = here.acme.segment("gold")
    here.acme.contact("inside", gold)
    here.acme.contact("outside")
    here.acme.change_item(here.opening_hours, segment_restricted=True, segments=[gold.pk])
    heard = {}
    for caller in ("inside", "outside"):
        session = voice.session(here.receptionist, contact={"external_id": caller})
        heard[caller] = found(voice.search(here.receptionist, session, HOURS))
    assert heard == {"inside": [str(here.opening_hours)], "outside": []}


def test_a_contact_who_left_a_segment_hears_less_in_the_same_session(here, voice):
    gold = here.acme.segment("gold")
    contact = here.acme.contact("crm-77", gold)
    here.acme.change_item(here.opening_hours, segment_restricted=True, segments=[gold.pk])
    session = voice.session(here.receptionist, contact={"external_id": "crm-77"})
    assert found(voice.search(here.receptionist, session, HOURS))
    with here.acme.context():
        ContactSegment.objects.filter(contact=contact).delete()
    assert found(voice.search(here.receptionist, session, HOURS)) == []


def test_a_revoked_key_is_refused_on_the_next_search(here, voice, session):
    key = ServiceKey.objects.get(kid=voice.token.split(".")[0])
    revoke_key(key, by=BY, at=timezone.now())
    assert voice.search(here.receptionist, session, HOURS).status_code == 401


@pytest.mark.parametrize("model", [PhoneAgent, Organization])
def test_a_switched_off_agent_or_organization_is_not_there(here, voice, session, model):
    row = here.receptionist if model is PhoneAgent else here.acme.organization
    with here.acme.context():
        model.objects.filter(pk=row.pk).update(is_active=False)
    assert voice.search(here.receptionist, session, HOURS).status_code == 404


def test_digits_are_redacted_before_they_are_kept(here, voice, session):
    answer = voice.search(here.receptionist, session, "pelican lounge 4111 1111 1111 1111")
    assert record(here, answer).queries == ["pelican lounge [16-digit structured value]"]


def test_a_search_extends_the_session(here, voice, session):
    soon = timezone.now() + timedelta(minutes=1)
    with here.acme.context():
        VoiceSession.objects.filter(pk=session).update(expires_at=soon)
    voice.search(here.receptionist, session, HOURS)
    with here.acme.context():
        assert VoiceSession.objects.get(pk=session).expires_at > soon


def test_a_search_is_recorded_under_its_session(here, voice, session):
    kept = record(here, voice.search(here.receptionist, session, HOURS, speculative=True))
    assert (str(kept.session_id), kept.door, kept.speculative, kept.adopted) == (
        session, "voice", True, False,
    )  # fmt: skip


def test_an_adopted_search_is_marked(here, voice, session):
    first = voice.search(here.receptionist, session, HOURS, speculative=True)
    voice.search(here.receptionist, session, PRICES, adopted=[first.json()["search"]])
    assert record(here, first).adopted


def test_the_last_adopted_search_is_marked_at_the_end(here, voice, session):
    first = voice.search(here.receptionist, session, HOURS, speculative=True)
    ending = names(here.receptionist) | {"adopted": [first.json()["search"]]}
    voice.post(f"/sessions/{session}/end", ending)
    assert record(here, first).adopted


def test_searches_of_another_session_cannot_be_adopted(here, voice, session):
    first = voice.search(here.receptionist, session, HOURS, speculative=True)
    other = voice.session(here.receptionist)
    adopted = [first.json()["search"], "nonsense", str(uuid.uuid4())]
    answer = voice.search(here.receptionist, other, PRICES, adopted=adopted)
    assert answer.status_code == 200
    assert not record(here, first).adopted


def test_a_search_that_was_not_speculative_is_not_adopted(here, voice, session):
    first = voice.search(here.receptionist, session, HOURS)
    voice.search(here.receptionist, session, PRICES, adopted=[first.json()["search"]])
    assert not record(here, first).adopted


def test_a_failed_embedding_is_degraded_and_not_an_error(here, voice, session, embedder):
    from knowledge.errors import EmbeddingUnavailable

    def fail(_texts):
        raise EmbeddingUnavailable

    embedder.before = fail
    hit = voice.search(here.receptionist, session, HOURS)
    assert (hit.status_code, hit.json()["degraded"]) == (200, ["dense"])
    miss = voice.search(here.receptionist, session, PRICES)
    assert (miss.status_code, miss.json()["status"]) == (503, "unavailable")
    assert miss.headers["Retry-After"]
    assert miss.json()["guidance"]


def test_no_time_left_is_a_timeout(here, voice, session):
    answer = voice.search(here.receptionist, session, HOURS, **{"X-Deadline-Ms": "400"})
    assert (answer.status_code, answer.json()["status"]) == (504, "timeout")


def test_a_limit_makes_the_list_shorter(here, voice):
    for number in range(4):
        here.acme.item(f"Lounge {number}", f"The pelican lounge opens at {number}.")
    here.acme.pick(here.receptionist, "knowledge", containers=["help"])
    session = voice.session(here.receptionist)
    answer = voice.search(here.receptionist, session, HOURS, limit=2)
    assert len(found(answer)) == 2
