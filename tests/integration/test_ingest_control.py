"""An import is waited for, interrupted, paused and cancelled without losing or doubling anything."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from knowledge.indexing.status import waiting
from knowledge.ingestion import importing, persistence
from knowledge.ingestion.importing import run_import
from knowledge.ingestion.request import ImportRequest
from knowledge.models import ImportRun, Item
from tests.embedders import CountingEmbedder
from tests.world import tenant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export.jsonl"
    rows = ({"id": f"r{n:03}", "title": f"T {n}", "text": f"Text {n}."} for n in range(250))
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def start(acme, export, watch=lambda _progress: None):
    request = ImportRequest(acme.organization.pk, (str(export),), "help")
    return run_import(request, clock=lambda: datetime.now(tz=UTC), watch=watch)


def count(acme):
    with acme.context():
        return Item.objects.count()


def runs(acme):
    with acme.context():
        return [run.status for run in ImportRun.objects.order_by("started_at")]


def want(acme, status):
    with acme.context():
        ImportRun.objects.filter(status__in=["running", "paused"]).update(status=status)


def test_waiting_indexes_here_when_no_drain_works(acme, tmp_path, monkeypatch):
    embedder = CountingEmbedder()
    monkeypatch.setattr("knowledge.ingestion.waiting.PATIENCE_S", 0.3)
    monkeypatch.setattr("knowledge.ingestion.waiting.current_embedder", lambda: embedder)
    (tmp_path / "a.md").write_text("# Hours\n\nWe open at nine.")
    said = StringIO()
    call_command(
        "ingest", str(tmp_path), organization="acme", source="help", wait=True, stdout=said
    )
    assert "No index process is working" in said.getvalue()
    assert said.getvalue().endswith("Everything is searchable.\n")
    assert waiting(acme.organization.pk) == 0
    assert embedder.asked


def test_an_interrupted_import_goes_on_where_it_stopped(acme, export):
    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        start(acme, export, interrupt)
    assert count(acme) == 100
    done = start(acme, export)
    assert (done.run.created, done.run.unchanged) == (150, 100)
    assert runs(acme) == ["cancelled", "done"]


def test_a_run_that_was_killed_is_marked_when_it_is_started_again(acme, export):
    with acme.context():
        ImportRun.objects.create(
            organization=acme.organization, label=f"{export} → help", status="running"
        )
    start(acme, export)
    assert runs(acme) == ["failed", "done"]


def test_staff_cancel_an_import_by_its_record(acme, export):
    done = start(acme, export, lambda _progress: want(acme, "cancelled"))
    assert done.run.status == "cancelled"
    assert count(acme) == 200


def test_a_paused_import_waits_until_staff_let_it_go_on(acme, export, monkeypatch):
    monkeypatch.setattr(importing, "PAUSED_S", 0.01)
    monkeypatch.setattr("time.sleep", lambda _seconds: want(acme, "running"))
    want_once = iter(["paused"])
    done = start(acme, export, lambda _progress: want(acme, next(want_once, "running")))
    assert (done.run.status, done.run.created) == ("done", 250)


def test_a_database_that_was_away_for_a_moment_costs_nothing(acme, export, monkeypatch):
    monkeypatch.setattr(persistence, "PAUSES_S", (0.01,) * 5)
    cut = iter([True])

    def lose_connection(_progress):
        if next(cut, False):
            connection.connection.close()

    done = start(acme, export, lose_connection)
    assert (done.run.status, count(acme)) == ("done", 250)


def test_two_imports_of_one_file_at_once_make_every_item_once(acme, export):
    def other():
        try:
            start(acme, export)
        finally:
            connection.close()

    second = threading.Thread(target=other)
    second.start()
    start(acme, export)
    second.join()
    assert count(acme) == 250
