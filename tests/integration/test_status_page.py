from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django.utils.module_loading import import_string

from config.celery import app
from knowledge.alarms import BREAKER_OPEN, FOREIGN_ROWS
from knowledge.embedding.breaker import Breaker
from knowledge.models import SearchRecord
from knowledge.retrieval.rendering import ForeignRow, _assert_own
from scopes.models import CanaryLook
from scopes.probing import look_everywhere
from tests.looking import in_use, look_at, poison
from tests.staff import browser, office, person
from tests.world import tenant
from voiceapi.tasks import look_for_leaks

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    made = tenant("acme")
    made.agent("front-desk")
    return made


@pytest.fixture
def space():
    return in_use()


@pytest.fixture
def viewer(acme):
    return browser(person("vera", (acme.organization, "viewer")))


def leak(acme):
    look_at(acme.organization, at=timezone.now())
    poison(acme, "instruction", "draft", status="published")
    return look_at(acme.organization, at=timezone.now())


def metric(name):
    lines = Client().get("/metrics").content.decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def test_a_leak_is_a_metric_a_page_and_a_notice(acme, viewer):
    found = leak(acme).leaks
    assert metric("earmark_canary_leaks") == len(found) > 0
    page = viewer.get("/admin/status/").content.decode()
    assert "instruction draft: found by an unknown caller" in page
    assert "kept from it" in viewer.get("/admin/").content.decode()


def test_without_a_leak_nothing_is_alarmed(acme, viewer, space):
    look_at(acme.organization, at=timezone.now())
    assert metric("earmark_canary_leaks") == metric("earmark_canary_missed") == 0
    assert metric("earmark_canary_not_probed") == 0
    asked = metric("earmark_canary_lexical_searches")
    assert metric("earmark_canary_dense_searches") == asked >= 5
    assert 0 <= metric("earmark_canary_look_age_seconds") < 60
    page = viewer.get("/admin/status/").content.decode()
    assert "no leak, neither by words nor by vectors" in page
    assert f"by words from {asked:.0f}, by vectors from {asked:.0f}" in page
    assert "kept from it" not in viewer.get("/admin/").content.decode()


def test_what_could_not_be_asked_by_vectors_has_not_passed(acme, viewer):
    look_at(acme.organization, at=timezone.now())
    assert metric("earmark_canary_not_probed") == 1
    assert metric("earmark_canary_dense_searches") == 0
    page = viewer.get("/admin/status/").content.decode()
    assert "no leak by words" in page
    assert "By vectors it was not probed: nothing has been indexed yet" in " ".join(
        page.replace("</strong>", "").split()
    )
    with pytest.raises(CommandError, match="Not everything could be asked"):
        call_command("canaries", stdout=StringIO())


def test_a_look_of_the_release_before_is_no_look_by_vectors(acme, viewer, space):
    look_at(acme.organization, at=timezone.now())
    with acme.context():
        CanaryLook.objects.update(at=timezone.now(), searches=9, leaks=[], missed=[])
    assert metric("earmark_canary_not_probed") == 1
    assert metric("earmark_canary_dense_searches") == 0
    assert "asked by words only" in viewer.get("/admin/status/").content.decode()


def test_a_leak_that_was_mended_is_still_told(acme, viewer, space):
    leak(acme)
    call_command("canaries", "--organization", "acme", "--anew", stdout=StringIO())
    assert metric("earmark_canary_leaks") == 0
    assert "last leak at" in viewer.get("/admin/status/").content.decode()


def test_the_command_fails_on_a_leak(acme, space):
    told = StringIO()
    call_command("canaries", stdout=told)
    assert "acme: " in told.getvalue()
    poison(acme, "knowledge", "internal", visibility="public")
    with pytest.raises(CommandError):
        call_command("canaries", stdout=told)
    assert "knowledge internal: told by an unknown caller" in told.getvalue()


def test_the_probe_runs_every_minute_in_the_drain_and_in_celery(acme):
    path, every_s = settings.DRAIN_CHORES["canaries"]
    assert (import_string(path), every_s) == (look_everywhere, 60)
    beat = settings.CELERY_BEAT_SCHEDULE["canaries"]
    assert beat["task"] in app.tasks
    assert beat["schedule"] == 60
    assert look_for_leaks() == 0
    with acme.context():
        assert CanaryLook.objects.count() == 1


def test_a_foreign_row_raises_its_counter(acme):
    before = metric("earmark_foreign_rows_total")
    with pytest.raises(ForeignRow):
        _assert_own([{"organization": acme.organization.pk + 1}], acme.organization.pk)
    assert metric("earmark_foreign_rows_total") == before + 1
    assert FOREIGN_ROWS._value.get() == before + 1


def test_the_page_tells_how_many_searches_went_without_a_leg(acme, viewer):
    row = {
        "organization": acme.organization, "agent": acme.organization.phoneagent_set,
        "instruction_mode": "all", "knowledge_mode": "all", "queries": [],
    }  # fmt: skip
    with acme.context():
        row["agent"] = row["agent"].get()
        now = timezone.now()
        SearchRecord.objects.create(**row, at=now, status="ok", degraded=["dense"])
        SearchRecord.objects.create(**row, at=now, status="ok")
        SearchRecord.objects.create(**row, at=now - timedelta(hours=1), status="timeout")
    page = viewer.get("/admin/status/").content.decode()
    assert "2; 50 % by words only, 0 without an answer" in page


def test_a_stopped_probe_is_told(acme, viewer):
    look_at(acme.organization, at=timezone.now() - timedelta(hours=1))
    assert "The probe has stopped." in viewer.get("/admin/status/").content.decode()
    assert metric("earmark_canary_look_age_seconds") > 3000


def test_an_open_breaker_is_told(viewer):
    BREAKER_OPEN.set(1)
    try:
        assert "left alone for a moment" in viewer.get("/admin/status/").content.decode()
    finally:
        BREAKER_OPEN.set(0)


def test_a_breaker_says_whether_it_is_open():
    now = [0.0]
    breaker = Breaker(failures=2, open_s=15, clock=lambda: now[0])
    states = [breaker.is_open]
    for tell in (breaker.failed, breaker.failed, breaker.succeeded):
        tell()
        states.append(breaker.is_open)
    assert states == [False, False, True, False]


def test_the_page_shows_no_other_organization():
    made = office()
    made.globex.agent("desk")
    look_everywhere(timezone.now())
    page = made.as_("admin").get("/admin/status/").content.decode()
    assert "Acme" in page
    assert "Globex" not in page
