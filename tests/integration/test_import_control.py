"""Imports of a command and looks at a source are paused, cancelled and tried again like files."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.urls import reverse

from knowledge.ingestion import importing
from knowledge.ingestion.errors import PruneRefused
from knowledge.ingestion.importing import run_import
from knowledge.ingestion.recording import status_of
from knowledge.ingestion.request import ImportRequest
from knowledge.ingestion.uploads import import_waiting, pause, resume
from knowledge.ingestion.writing import write_batch
from knowledge.models import ImportFailure, ImportRun, Item, Source, SourceSchedule
from knowledge.sources.controlling import can_be_tried_again, try_again
from knowledge.sources.scheduling import sync, sync_due
from tests.processes import eventually
from tests.site_server import site
from tests.staff import office
from tests.world import AT, BY

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff():
    return office()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hours.md").write_text("# Hours\n\nWe open at seven.")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    return tmp_path


def now():
    return datetime.now(tz=UTC)


def by_command(staff, folder):
    call_command("ingest", str(folder), organization="acme", source="help", stdout=StringIO())
    return newest(staff)


def newest(staff):
    with staff.acme.context():
        rows = ImportRun.objects.exclude(source__slug="web")
        return rows.order_by("-started_at").first()


def page_of(staff, run, who="editor"):
    return staff.as_(who).get(reverse("admin:import_progress", args=[run.pk])).content.decode()


def press(staff, run, verb, who="editor"):
    return staff.as_(who).post(reverse("admin:import_do", args=[run.pk, verb]))


def test_the_record_of_a_command_tells_everything_the_command_told(staff, folder):
    run = by_command(staff, folder)
    page = page_of(staff, run)
    assert "1 created, 0 updated, 0 unchanged, 1 failed" in page
    assert "broken.pdf" in page
    assert ".png 1" in page
    assert "Try again what failed" in page
    assert "Try again what failed" not in page_of(staff, run, "viewer")


def test_what_a_command_could_not_read_is_tried_again_by_the_queue(staff, folder):
    run = by_command(staff, folder)
    (folder / "broken.pdf").unlink()
    (folder / "broken.md").write_text("# Mended\n\nIt can be read now.")
    assert press(staff, run, "retry", "viewer").status_code == 403
    assert press(staff, run, "retry").status_code == 302
    assert "as soon as a process is free" in page_of(staff, run)
    assert import_waiting(clock=now) == 1
    again = newest(staff)
    assert again.pk != run.pk
    assert (again.created, again.unchanged, again.failed) == (1, 1, 0)
    assert import_waiting(clock=now) == 0


def test_an_import_of_which_nothing_failed_is_not_offered_again(staff, tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nAbout a.")
    run = by_command(staff, tmp_path)
    with staff.acme.context():
        assert not can_be_tried_again(run)


def test_files_that_are_gone_are_told_in_the_new_record(staff, folder):
    run = by_command(staff, folder)
    with staff.acme.context():
        ImportRun.objects.filter(pk=run.pk).update(
            request={**run.request, "paths": [str(folder / "nowhere")]}
        )
        try_again(run, by=BY, at=AT)
    import_waiting(clock=now)
    with staff.acme.context():
        assert ImportFailure.objects.filter(run=newest(staff)).get().code == "missing"


def test_why_an_import_broke_off_stands_in_its_record(staff, tmp_path):
    for number in range(30):
        (tmp_path / f"{number}.md").write_text(f"# {number}\n\nAbout {number}.")
    by_command(staff, tmp_path)
    for number in range(20):
        (tmp_path / f"{number}.md").unlink()
    request = ImportRequest(staff.acme.organization.pk, (str(tmp_path),), "help", prune=True)
    with pytest.raises(PruneRefused):
        run_import(request, clock=now, watch=lambda _progress: None)
    assert "would be deleted as gone" in page_of(staff, newest(staff))


@pytest.fixture
def looked_at(staff):
    """A schedule over a site of many pages, and what is looked at from a thread."""
    with site() as web:
        paths = [f"/p{number}" for number in range(12)]
        for path in paths:
            web.page(path, f"About {path}.")
        web.sitemap(*paths)
        with staff.acme.context():
            source = Source.objects.create(
                organization=staff.acme.organization, slug="web", name="Web", kind="site"
            )
            made = SourceSchedule.objects.create(
                organization=staff.acme.organization, source=source, kind="site",
                config={"start": f"{web.address}/"}, next_run_at=AT,
            )  # fmt: skip
        yield web, made


def looks(staff, made):
    def look():
        try:
            sync(staff.acme.organization.pk, made.pk, clock=now)
        finally:
            connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    return thread


def running_look(staff):
    with staff.acme.context():
        return ImportRun.objects.filter(source__slug="web").order_by("-started_at").first()


@pytest.fixture
def paused_look(staff, looked_at, monkeypatch):
    """A look that was paused after its first batch, and the thread it runs in."""
    _web, made = looked_at
    monkeypatch.setattr("knowledge.ingestion.batches.MOST_ROWS", 3)
    monkeypatch.setattr(importing, "PAUSED_S", 0.02)
    held, once = threading.Event(), iter([True])

    def told(run):
        held.set()
        return status_of(run)

    def pausing(running, batch):
        write_batch(running, batch)
        with staff.acme.context():
            if next(once, False):
                pause(running.run, by=BY, at=now())
            return ImportRun.objects.get(pk=running.run.pk).status

    monkeypatch.setattr(importing, "status_of", told)
    monkeypatch.setattr("knowledge.sources.syncing.write_batch", pausing)
    thread = looks(staff, made)
    assert held.wait(60)
    return made, running_look(staff), thread


def test_a_look_at_a_source_is_paused_keeps_its_lease_and_goes_on(staff, paused_look):
    made, run, thread = paused_look
    with staff.acme.context():
        first = SourceSchedule.objects.get(pk=made.pk).lease_until

    def renewed():
        with staff.acme.context():
            return SourceSchedule.objects.filter(pk=made.pk, lease_until__gt=first).exists()

    eventually(renewed)
    with staff.acme.context():
        assert ImportRun.objects.get(pk=run.pk).status == "paused"
        resume(run, by=BY, at=now())
    thread.join(60)
    with staff.acme.context():
        assert ImportRun.objects.get(pk=run.pk).status == "done"
        assert Item.objects.filter(source__slug="web").count() == 12


def test_a_cancelled_look_says_so_and_is_tried_again_by_its_schedule(staff, looked_at, monkeypatch):
    _web, made = looked_at
    monkeypatch.setattr("knowledge.ingestion.batches.MOST_ROWS", 3)
    write = write_batch

    def cancelling(running, batch):
        write(running, batch)
        press(staff, running.run, "cancel")
        with staff.acme.context():
            return ImportRun.objects.get(pk=running.run.pk).status

    monkeypatch.setattr("knowledge.sources.syncing.write_batch", cancelling)
    sync(staff.acme.organization.pk, made.pk, clock=now)
    run = running_look(staff)
    assert run.status == "cancelled"
    assert "It was cancelled." in page_of(staff, run)
    monkeypatch.setattr("knowledge.sources.syncing.write_batch", write)
    assert press(staff, run, "retry").status_code == 302
    assert sync_due(clock=lambda: now() + timedelta(seconds=1)) == ["acme/web"]
    with staff.acme.context():
        assert Item.objects.filter(source__slug="web").count() == 12
