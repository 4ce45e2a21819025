"""Handing files in and keeping sources fresh, as staff do it in the admin."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from lxml import html

from knowledge.ingestion.uploads import import_waiting
from knowledge.models import ImportRun, ImportUpload, SourceSchedule
from tests.staff import office
from tests.world import AT

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff():
    return office()


def upload(staff, *files, who="editor", source=None):
    source = source or staff.acme.source()
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    address = reverse("admin:import_new")
    return staff.as_(who).post(address, {"source": str(source.pk), "folder": "desk", "files": sent})


GOOD = ("hours.md", b"# Hours\n\nWe open at seven.")
BAD = ("broken.pdf", b"%PDF-1.4 nonsense")


def run_of(staff):
    with staff.acme.context():
        return ImportRun.objects.get(label__startswith="2 uploaded")


def test_several_files_are_handed_in_and_their_outcomes_shown(staff):
    answer = upload(staff, GOOD, BAD)
    assert answer.status_code == 302
    page = staff.as_("editor").get(answer.url)
    assert b"0 of 2 files" in page.content
    assert b'hx-trigger="every 1s"' in page.content
    assert b'http-equiv="refresh"' in page.content
    import_waiting(clock=lambda: AT)
    shown = staff.as_("viewer").get(answer.url).content.decode()
    assert "2 of 2 files" in shown
    assert "broken.pdf" in shown
    assert "every 1s" not in shown
    assert "Try again what failed" not in shown


def test_a_script_is_given_the_changing_part_alone(staff):
    address = upload(staff, GOOD, BAD).url
    part = staff.as_("editor").get(address, headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith('<section id="import-state"')
    assert "csrfmiddlewaretoken" in part


def test_an_import_is_paused_resumed_and_cancelled(staff):
    upload(staff, GOOD, BAD)
    run = run_of(staff)
    for verb, status in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        address = reverse("admin:import_do", args=[run.pk, verb])
        assert staff.as_("viewer").post(address).status_code == 403
        assert staff.as_("rival").post(address).status_code == 404
        assert staff.as_("editor").post(address).status_code == 302
        assert run_of(staff).status == status


def test_failed_files_are_tried_again(staff):
    upload(staff, GOOD, BAD)
    import_waiting(clock=lambda: AT)
    staff.as_("editor").post(reverse("admin:import_do", args=[run_of(staff).pk, "retry"]))
    with staff.acme.context():
        assert ImportUpload.objects.get(name="broken.pdf").outcome == "waiting"


def test_files_go_into_no_source_of_another_organization(staff):
    answer = upload(staff, GOOD, source=staff.globex.source())
    assert answer.status_code == 200
    assert b"Select a valid choice" in answer.content


def test_a_source_shows_its_age_its_next_look_and_its_outcome(staff):
    page = staff.as_("viewer").get(reverse("admin:knowledge_sourceschedule_changelist"))
    assert b"Never run" in page.content
    assert b"only when asked" in page.content


def asked_about(staff, removals):
    row = staff.rows["sourceschedule"]
    with staff.acme.context():
        SourceSchedule.objects.filter(pk=row.pk).update(
            last_outcome="needs_confirmation", asked_removals=removals
        )
    return row


def buttons(staff, row):
    """The buttons of a row as its page shows them: where each sends what."""
    page = staff.as_("editor").get(reverse("admin:knowledge_sourceschedule_change", args=[row.pk]))
    forms = [
        one for one in html.fromstring(page.content.decode()).forms if "/do/" in (one.action or "")
    ]
    return {
        one.action.rstrip("/").rpartition("/")[2]: (one.action, dict(one.form_values()))
        for one in forms
    }


def test_sync_now_and_agreeing_are_buttons(staff):
    row = asked_about(staff, 3)
    for verb in ("sync_now", "agree"):
        address, sent = buttons(staff, row)[verb]
        staff.as_("editor").post(address, sent)
    with staff.acme.context():
        row.refresh_from_db()
    assert row.confirmed_removals == 3
    assert row.next_run_at is not None


@pytest.mark.parametrize("verb", ["agree", "keep"])
def test_nobody_decides_about_more_removals_than_the_page_showed(staff, verb):
    row = asked_about(staff, 3)
    address, sent = buttons(staff, row)[verb]
    asked_about(staff, 900)
    answer = staff.as_("editor").post(address, sent, follow=True)
    with staff.acme.context():
        row.refresh_from_db()
    assert "it has changed meanwhile" in answer.content.decode()
    assert (row.last_outcome, row.confirmed_removals) == ("needs_confirmation", 0)
