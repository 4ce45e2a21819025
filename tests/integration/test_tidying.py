"""What nobody needs any more goes by itself; what is young, or still named somewhere, stays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils.module_loading import import_string

from config.celery import app
from knowledge.ingestion import tidying as imports
from knowledge.ingestion.uploads import retry
from knowledge.models import (
    ImportFailure,
    ImportRun,
    ImportUpload,
    Instruction,
    InstructionDirectory,
    SourceSchedule,
)
from tenants.models import Invitation
from tests.staff import person
from tests.world import AT, BY, tenant
from voiceapi.tidying import tidy_up

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def acme():
    return tenant("acme")


def run(acme, label, age, **columns):
    with acme.context():
        return ImportRun.objects.create(
            organization=acme.organization, label=label, started_at=AT - age,
            **{"status": "done", **columns},
        )  # fmt: skip


def labels(acme):
    with acme.context():
        return set(ImportRun.objects.values_list("label", flat=True))


def test_sessions_that_are_over_go(acme):
    for name, age in (("old", DAY), ("young", -DAY)):
        Session.objects.create(session_key=name, session_data="", expire_date=AT - age)
    tidy_up(AT)
    assert [session.session_key for session in Session.objects.all()] == ["young"]


def test_old_records_of_signing_in_go(acme):
    for model, more in ((AccessAttempt, {"failures_since_start": 1}), (AccessLog, {})):
        for name, age in (("old", 31 * DAY), ("young", 29 * DAY)):
            row = model.objects.create(username=name, **more)
            model.objects.filter(pk=row.pk).update(attempt_time=AT - age)
    tidy_up(AT)
    for model in (AccessAttempt, AccessLog):
        assert [row.username for row in model.objects.all()] == ["young"]


def test_old_records_of_imports_go_with_their_failures(acme):
    old, young = run(acme, "old", 31 * DAY), run(acme, "young", 29 * DAY)
    with acme.context():
        for one in (old, young):
            ImportFailure.objects.create(
                organization=acme.organization, run=one, path="a.md", code="x", reason="x"
            )
    tidy_up(AT)
    assert labels(acme) == {"young"}
    with acme.context():
        assert ImportFailure.objects.get().run_id == young.pk


def test_an_organization_that_keeps_longer_keeps_its_imports_longer(acme):
    acme.organization.retention_days = 90
    acme.organization.save()
    run(acme, "old", 91 * DAY)
    run(acme, "young", 89 * DAY)
    tidy_up(AT)
    assert labels(acme) == {"young"}


def test_imports_that_something_still_names_stay(acme):
    last = run(acme, "last look", 60 * DAY)
    run(acme, "paused", 60 * DAY, status="paused")
    run(acme, "wanted again", 60 * DAY, again_at=AT)
    run(acme, "removed an item", 61 * DAY)
    run(acme, "removed an instruction", 62 * DAY)
    item, instruction = acme.item("Hours"), acme.instruction("Refunds")
    acme.change_item(item, deleted_at=AT - 61 * DAY)
    with acme.context():
        SourceSchedule.objects.create(
            organization=acme.organization, source=acme.source(), kind="site", config={},
            last_run=last,
        )  # fmt: skip
        Instruction.objects.filter(pk=instruction).update(deleted_at=AT - 62 * DAY)
    before = labels(acme)
    tidy_up(AT)
    assert labels(acme) == before


def test_files_that_could_not_be_brought_in_are_emptied_and_not_tried_again(acme):
    old = run(acme, "last look", 31 * DAY)
    young = run(acme, "young", 29 * DAY)
    with acme.context():
        SourceSchedule.objects.create(
            organization=acme.organization, source=acme.source(), kind="site", config={},
            last_run=old,
        )  # fmt: skip
        for one in (old, young):
            ImportUpload.objects.create(
                organization=acme.organization, run=one, name="a.md", size=1, content=b"a",
                outcome="failed",
            )  # fmt: skip
    tidy_up(AT)
    with acme.context():
        kept = {one.run_id: bytes(one.content) for one in ImportUpload.objects.all()}
        assert kept == {old.pk: b"", young.pk: b"a"}
        assert (retry(old, by=BY, at=AT), retry(young, by=BY, at=AT)) == (0, 1)


def test_invitations_that_ended_long_ago_go(acme):
    erin = person("erin")
    ended: dict[str, dict[str, Any]] = {
        "accepted": {"accepted_at": AT - 91 * DAY, "accepted_by": erin},
        "revoked": {"revoked_at": AT - 91 * DAY},
        "expired": {},
    }
    with acme.context():
        for number, (name, columns) in enumerate([*ended.items(), ("young", {})]):
            Invitation.objects.create(
                organization=acme.organization, email=f"{name}@example.com", role="viewer",
                secret_sha256=bytes([number]) * 32, sent_at=AT - 100 * DAY,
                expires_at=AT - (89 if name == "young" else 91) * DAY, **columns,
            )  # fmt: skip
    tidy_up(AT)
    with acme.context():
        assert [row.email for row in Invitation.objects.all()] == ["young@example.com"]


def directories(acme):
    with acme.context():
        return set(InstructionDirectory.every.values_list("name", flat=True))


def test_empty_directories_that_were_deleted_long_ago_go_from_the_inside(acme):
    for path in ("outer/inner", "young", "there"):
        acme.directory(path)
    delete(acme, {"outer": 31, "inner": 31, "young": 29})
    tidy_up(AT)
    assert directories(acme) == {"outer", "young", "there"}
    tidy_up(AT)
    assert directories(acme) == {"young", "there"}


def test_directories_that_hold_or_restrict_something_stay(acme):
    clerk = acme.agent("clerk")
    acme.pick(clerk, "instruction", containers=[acme.directory("picked")])
    acme.instruction("Refunds", directory="holding")
    delete(acme, {"picked": 60, "holding": 60})
    tidy_up(AT)
    assert directories(acme) == {"picked", "holding"}


def delete(acme, ages):
    with acme.context():
        for name, days in ages.items():
            rows = InstructionDirectory.every.filter(name=name)
            assert rows.update(deleted_at=AT - days * DAY) == 1


def test_so_many_go_at_a_time(acme, monkeypatch):
    monkeypatch.setattr(imports, "RUNS", 2)
    for number in range(5):
        run(acme, str(number), 31 * DAY)
    tidy_up(AT)
    assert len(labels(acme)) == 3


def test_drain_and_celery_both_do_it():
    assert import_string(settings.DRAIN_CHORES["tidy"][0]) is tidy_up
    app.loader.import_default_modules()
    assert settings.CELERY_BEAT_SCHEDULE["tidy"]["task"] in app.tasks
