"""Calls and searches are remembered as long as their organization says, and no longer."""

from __future__ import annotations

import uuid
from datetime import timedelta
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone
from django.utils.module_loading import import_string

from config.celery import app
from knowledge.models import SearchRecord
from tenants.models import AuditEntry, Contact
from tests.embedders import CountingEmbedder
from tests.meanwhile import committed_while_waited_for
from tests.staff import browser, person
from tests.voice import exhaust, runtime
from tests.world import BY, world
from voiceapi import limiting, retention
from voiceapi.models import VoiceSession
from voiceapi.retention import Forgotten, forget_contact, forget_old
from voiceapi.sessions import is_kept

pytestmark = pytest.mark.django_db
HOURS = "When does the pelican lounge open?"
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization, here.globex.organization)


def call(voice, agent, **body):
    session = voice.session(agent, **body)
    voice.search(agent, session, HOURS)
    return session


def kept(tenant):
    with tenant.context():
        return SearchRecord.objects.count(), VoiceSession.objects.count()


def keep_for(tenant, days):
    tenant.organization.retention_days = days
    tenant.organization.save()


def test_what_was_kept_long_enough_goes_and_the_rest_stays(here, voice):
    keep_for(here.acme, 2)
    call(voice, here.receptionist)
    with here.acme.context():
        SearchRecord.objects.update(at=timezone.now() - 3 * DAY)
        VoiceSession.objects.update(
            created_at=timezone.now() - 3 * DAY, expires_at=timezone.now() - 2.5 * DAY
        )
    call(voice, here.receptionist)
    assert forget_old(timezone.now())["acme"] == Forgotten(1, 1)
    assert kept(here.acme) == (1, 1)


def test_every_organization_keeps_as_long_as_it_says(here, voice):
    keep_for(here.acme, 1)
    keep_for(here.globex, 30)
    for agent in (here.receptionist, here.rival):
        call(voice, agent)
    forget_old(timezone.now() + 2 * DAY)
    assert (kept(here.acme), kept(here.globex)) == ((0, 0), (1, 1))


def test_a_call_that_goes_on_is_kept_however_long_ago_it_began(here, voice):
    keep_for(here.acme, 1)
    session = voice.session(here.receptionist)
    with here.acme.context():
        VoiceSession.objects.update(created_at=timezone.now() - 3 * DAY)
    forget_old(timezone.now())
    assert voice.search(here.receptionist, session, HOURS).status_code == 200


def test_many_are_deleted_in_batches(here, voice, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 2)
    for _ in range(5):
        call(voice, here.receptionist)
    assert forget_old(timezone.now() + 60 * DAY)["acme"] == Forgotten(5, 5)


def test_what_there_is_no_time_for_goes_next_time(here, voice):
    call(voice, here.receptionist)
    ticks = iter([0.0, *[retention.BUDGET_S] * 100])
    forget_old(timezone.now() + 60 * DAY, clock=lambda: next(ticks))
    assert kept(here.acme) == (1, 1)


def test_allowances_that_nobody_uses_go_too(here):
    exhaust("session", "long ago", ahead_s=-7200)
    forget_old(timezone.now())
    assert not limiting.forget_idle()


def test_the_calls_of_one_contact_can_be_forgotten(here, voice):
    here.acme.contact("crm-1")
    here.acme.contact("crm-2")
    for external_id in ("crm-1", "crm-2", "crm-1"):
        call(voice, here.receptionist, contact={"external_id": external_id})
    with here.acme.context():
        contact = Contact.objects.get(external_id="crm-1")
    assert forget_contact(contact, by=BY, at=timezone.now()) == Forgotten(2, 2)
    assert kept(here.acme) == (1, 1)
    with here.acme.context():
        entry = AuditEntry.objects.get(verb="contact.forget_calls")
        assert Contact.objects.filter(external_id="crm-1").exists()
    assert (entry.subject_id, entry.after) == (str(contact.pk), {"searches": 2, "sessions": 2})


def ask_again(here, session):
    with here.acme.context():
        record = SearchRecord.objects.get(session_id=session, door="voice")
    viewer = browser(person("viewer", (here.acme.organization, "viewer")))
    again = {"search": str(record.pk), "when": "now"}
    assert viewer.get(f"/admin/calls/{session}/", again).context["replay"] is not None


def test_what_staff_asked_again_is_forgotten_with_the_contact(here, voice):
    contact = here.acme.contact("crm-1")
    session = call(voice, here.receptionist, contact={"external_id": "crm-1"})
    ask_again(here, session)
    assert kept(here.acme) == (2, 1)
    forget_contact(contact, by=BY, at=timezone.now())
    assert kept(here.acme) == (0, 0)


def test_what_staff_asked_again_lasts_no_longer_than_its_call(here, voice):
    keep_for(here.acme, 2)
    session = call(voice, here.receptionist)
    ask_again(here, session)
    with here.acme.context():
        VoiceSession.objects.update(
            created_at=timezone.now() - 3 * DAY, expires_at=timezone.now() - 2.5 * DAY
        )
    assert forget_old(timezone.now())["acme"] == Forgotten(2, 1)
    assert kept(here.acme) == (0, 0)


def test_a_search_in_flight_leaves_nothing_of_a_call_that_was_forgotten(here, voice, monkeypatch):
    contact = here.acme.contact("crm-1")
    session = voice.session(here.receptionist, contact={"external_id": "crm-1"})

    def forget(_texts):
        forget_contact(contact, by=BY, at=timezone.now())

    monkeypatch.setattr("scopes.asking.current_embedder", lambda: CountingEmbedder(before=forget))
    assert voice.search(here.receptionist, session, HOURS).status_code == 200
    assert kept(here.acme) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_whoever_forgets_waits_for_a_search_that_is_being_written_down(here, voice):
    contact = here.acme.contact("crm-1")
    session = call(voice, here.receptionist, contact={"external_id": "crm-1"})
    with here.acme.context():
        row, record = VoiceSession.objects.get(pk=session), SearchRecord.objects.get()
    record.pk = uuid.uuid4()

    def write_down():
        assert is_kept(row)
        record.save(force_insert=True)

    with committed_while_waited_for(here.acme.organization.pk, write_down):
        forget_contact(contact, by=BY, at=timezone.now())
    assert kept(here.acme) == (0, 0)


def test_the_same_contact_of_another_organization_is_not_touched(here, voice):
    here.acme.contact("crm-1")
    here.globex.contact("crm-1")
    call(voice, here.rival, contact={"external_id": "crm-1"})
    call_command("retention", "contact", "crm-1", organization="acme", stdout=StringIO())
    assert kept(here.globex) == (1, 1)


def test_the_command_says_how_much_it_was(here, voice):
    said = StringIO()
    call_command("retention", "run", stdout=said)
    assert "acme: 0 searches and 0 calls deleted" in said.getvalue()
    with pytest.raises(CommandError, match="no contact crm-9"):
        call_command("retention", "contact", "crm-9", organization="acme")


def test_drain_and_celery_both_do_it():
    assert import_string(settings.DRAIN_CHORES["forget"][0]) is forget_old
    app.loader.import_default_modules()
    assert settings.CELERY_BEAT_SCHEDULE["forget"]["task"] in app.tasks
