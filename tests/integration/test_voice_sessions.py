"""A session from bootstrap to its end, over HTTP."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from golden.acting import Act
from golden.content import Content
from golden.drafting import create_answer
from golden.publishing import override_publish
from knowledge.models import Instruction
from scopes.selecting import clear
from tests.voice import names, runtime
from tests.world import AT, BY, world
from voiceapi.models import VoiceSession

pytestmark = pytest.mark.django_db


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


def stored(here, session):
    with here.acme.context():
        return VoiceSession.objects.get(pk=session)


def test_bootstrap_answers_with_everything_the_contract_names(here, voice):
    answer = voice.open(here.receptionist)
    assert answer.status_code == 201
    assert set(answer.json()) == {
        "session", "expires_at", "contract", "prompt", "tools", "scope", "fallback",
        "deadline_ms", "code_patterns",
    }  # fmt: skip


def test_the_prompt_is_base_then_dynamic_then_additions(here, voice):
    instruction = here.acme.instruction("Refunds", "Ask for the receipt.", status="published")
    answer = voice.open(
        here.receptionist,
        dynamic_instructions=[str(instruction)],
        additions=["The caller is at the airport."],
    )
    assert answer.json()["prompt"] == (
        "You are receptionist.\n\n## Refunds\n\nAsk for the receipt.\n\nThe caller is at the airport."
    )


def test_published_rules_stand_between_the_base_and_what_was_asked_for(here, voice):
    rule = Content(question="No legal advice", answer="Never give legal advice.")
    answer = create_answer(here.acme.organization, rule, Act(BY, AT, "Law."), kind="rule")
    override_publish(here.acme.organization.pk, answer.pk, Act(BY, AT, "Law."))
    instruction = here.acme.instruction("Refunds", "Ask for the receipt.", status="published")
    opened = voice.open(
        here.receptionist,
        additions=["The caller is at the airport."],
        dynamic_instructions=[str(instruction)],
    )
    assert opened.json()["prompt"].split("\n\n") == [
        "You are receptionist.",
        "Never give legal advice.",
        "## Refunds",
        "Ask for the receipt.",
        "The caller is at the airport.",
    ]


@pytest.mark.parametrize("instructions", [True, False])
@pytest.mark.parametrize("knowledge", [True, False])
def test_in_no_scope_is_a_body_in_the_answer(here, voice, instructions, knowledge):
    instruction = here.acme.instruction("Refunds", "MARKER-instruction", status="published")
    item = here.acme.item("Fees", "MARKER-knowledge")
    agent = here.acme.agent("clerk")
    if instructions:
        here.acme.pick(agent, "instruction", rows=[instruction])
    if knowledge:
        here.acme.pick(agent, "knowledge", rows=[item])
    answer = voice.open(agent)
    assert answer.json()["prompt"] == "You are clerk."
    assert b"MARKER" not in answer.content


def test_a_dynamic_instruction_needs_no_pick(here, voice):
    instruction = here.acme.instruction("Refunds", "Ask first.", status="published")
    answer = voice.open(here.apprentice, dynamic_instructions=[str(instruction)])
    assert "Ask first." in answer.json()["prompt"]


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "draft"},
        {"deleted_at": timezone.now()},
        {"visibility": "internal"},
        {"channel_restricted": True, "channels": ["chat"]},
        {"segment_restricted": True},
        {"jurisdiction_restricted": True, "jurisdictions": ["DE"]},
        {"valid_until": timezone.now() - timedelta(days=1)},
        {"valid_from": timezone.now() + timedelta(days=1)},
    ],
)
def test_a_dynamic_instruction_passes_every_gate(here, voice, columns):
    instruction = here.acme.instruction("Refunds", "MARKER", status="published")
    with here.acme.context():
        Instruction.objects.filter(pk=instruction).update(**columns)
    answer = voice.open(here.receptionist, dynamic_instructions=[str(instruction)])
    assert answer.status_code == 201
    assert "MARKER" not in answer.json()["prompt"]


def test_a_foreign_dynamic_instruction_is_as_good_as_none(here, voice):
    foreign = here.globex.instruction("Refunds", "MARKER", status="published")
    with_it = voice.open(here.receptionist, dynamic_instructions=[str(foreign), "no such id"])
    assert with_it.json()["prompt"] == "You are receptionist."


def test_dynamic_instructions_come_once_each_in_the_order_asked(here, voice):
    first = str(here.acme.instruction("One", "First body.", status="published"))
    second = str(here.acme.instruction("Two", "Second body.", status="published"))
    asked = [second, first, second]
    prompt = voice.open(here.receptionist, dynamic_instructions=asked).json()["prompt"]
    assert prompt.index("Second body.") < prompt.index("First body.")
    assert prompt.count("Second body.") == 1


def test_the_scope_is_what_was_picked(here, voice):
    scope = voice.open(here.receptionist).json()["scope"]
    assert scope["knowledge"] == {
        "mode": "selected", "items": [], "folders": ["help/public/hours"]
    }  # fmt: skip
    assert scope["instructions"] == {"mode": "all", "instructions": [], "directories": []}


def test_the_snapshot_is_kept_as_it_was(here, voice):
    answer = voice.open(here.receptionist).json()
    clear(here.receptionist, "knowledge", version=2, by=BY, at=timezone.now())
    snapshot = stored(here, answer["session"]).snapshot
    assert {name: snapshot[name] for name in answer["scope"]} == answer["scope"]


def test_of_a_long_selection_the_first_are_kept_and_all_are_told(here, voice, monkeypatch):
    monkeypatch.setattr("scopes.snapshots.MOST_NAMED", 2)
    picked = [here.acme.item(f"Item {number}") for number in range(3)]
    items = sorted(map(str, picked))
    clear(here.receptionist, "knowledge", version=2, by=BY, at=timezone.now())
    here.acme.pick(here.receptionist, "knowledge", rows=picked)
    answer = voice.open(here.receptionist).json()
    kept = stored(here, answer["session"]).snapshot["knowledge"]
    assert answer["scope"]["knowledge"]["items"] == items
    assert (kept["items"], kept["counts"], kept["mode"]) == (items[:2], {"items": 3}, "selected")
    assert len(kept["fingerprint"]) == 16


def test_call_and_contact_are_written_down(here, voice):
    contact = here.acme.contact("crm-77")
    session = voice.session(
        here.receptionist,
        call={"id": "c-1", "channel": "phone", "country": "ae", "language": "ar"},
        contact={"external_id": "crm-77"},
    )
    row = stored(here, session)
    assert (row.contact_id, row.call_id, row.country, row.language) == (
        contact.pk, "c-1", "AE", "ar",
    )  # fmt: skip


def test_an_unknown_contact_does_not_stop_the_call(here, voice):
    session = voice.session(here.receptionist, contact={"external_id": "nobody"})
    assert stored(here, session).contact_id is None


def test_unknown_facts_of_a_call_are_dropped(here, voice):
    answer = voice.open(here.receptionist, call={"id": "c-1", "sip_trunk": {"deep": [1]}})
    assert answer.status_code == 201


def test_a_session_lives_four_hours_after_its_last_use(here, voice):
    session = voice.session(here.receptionist)
    with here.acme.context():
        soon = timezone.now() + timedelta(minutes=1)
        VoiceSession.objects.filter(pk=session).update(expires_at=soon)
    renewed = voice.post(f"/sessions/{session}/renew", names(here.receptionist))
    assert renewed.status_code == 200
    assert stored(here, session).expires_at > timezone.now() + timedelta(hours=3, minutes=59)
    assert set(renewed.json()) == {"session", "expires_at", "contract"}


def test_an_ended_session_is_not_there(here, voice):
    session = voice.session(here.receptionist)
    ended = voice.post(f"/sessions/{session}/end", names(here.receptionist))
    assert (ended.status_code, ended.json()["session"]) == (200, session)
    for verb in ("renew", "end"):
        again = voice.post(f"/sessions/{session}/{verb}", names(here.receptionist))
        assert again.status_code == 404


def test_an_expired_session_is_not_there(here, voice):
    session = voice.session(here.receptionist)
    with here.acme.context():
        VoiceSession.objects.filter(pk=session).update(expires_at=timezone.now())
    assert voice.post(f"/sessions/{session}/renew", names(here.receptionist)).status_code == 404


def test_one_key_may_speak_for_two_organizations(here):
    both = runtime(here.acme.organization, here.globex.organization)
    assert both.open(here.rival).status_code == 201
    assert both.open(here.receptionist).status_code == 201
    session = both.session(here.rival)
    crossed = both.post(f"/sessions/{session}/renew", names(here.receptionist))
    assert crossed.status_code == 404
