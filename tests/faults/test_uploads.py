"""A power cut while files are brought in: every file is in once, and says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from knowledge.ingestion.uploads import HandedIn, hand_in
from knowledge.models import ImportRun, ImportUpload, Item
from tests.processes import drain, eventually, running
from tests.world import BY

FILES = [HandedIn(f"{n}.md", f"# Item {n}\n\nIt says {n}.".encode()) for n in range(8)]


def outcomes(bench):
    with bench.acme.context():
        return list(ImportUpload.objects.values_list("outcome", flat=True))


def ten_minutes_pass(bench):
    with bench.acme.context():
        ImportUpload.objects.exclude(lease_until=None).update(
            lease_until=datetime.now(tz=UTC) - timedelta(seconds=1)
        )


def test_a_drain_killed_while_it_brings_files_in_loses_and_doubles_nothing(bench):
    source = bench.acme.source()
    with bench.acme.context():
        hand_in(source, "", FILES, by=BY, at=datetime.now(tz=UTC))
    first = drain(bench.server.base_url)
    with running(first):
        eventually(lambda: "done" in outcomes(bench))
        first.kill()
        assert "waiting" in outcomes(bench)
        ten_minutes_pass(bench)
        with running(drain(bench.server.base_url)):
            eventually(lambda: set(outcomes(bench)) == {"done"})
            bench.converged()
    with bench.acme.context():
        assert Item.objects.count() == len(FILES)
        run = ImportRun.objects.get()
        assert (run.status, run.failed) == ("done", 0)
        assert run.created == len(FILES)
