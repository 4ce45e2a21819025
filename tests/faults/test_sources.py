"""A look at a source whose process dies in the middle of it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta

from knowledge.models import ImportRun, Item, Source, SourceSchedule
from tests.processes import Process, eventually, product_environment, running
from tests.site_server import Site, site

PAGES = 24
CHANGED = 10
NEW = "Something else stands here now."


def look(bench) -> Process:
    environment = product_environment(
        bench.server.base_url, DJANGO_SETTINGS_MODULE="tests.private_sites"
    )
    return Process(
        [sys.executable, "manage.py", "sources", "sync", "--organization", "acme", "--source", "web"],
        environment,
    )  # fmt: skip


def arranged(bench, web: Site) -> None:
    organization = bench.acme.organization
    with bench.acme.context():
        source = Source.objects.create(
            organization=organization, slug="web", name="Web", kind="site"
        )
        SourceSchedule.objects.create(
            organization=organization, source=source, kind="site",
            config={"start": f"{web.address}/"},
        )  # fmt: skip


def paths(count: int) -> list[str]:
    return [f"/p{number}" for number in range(count)]


def rows(bench, **wanted):
    with bench.acme.context():
        return list(Item.objects.filter(deleted_at=None, **wanted).order_by("external_id"))


def the_lease_runs_out(bench) -> None:
    with bench.acme.context():
        SourceSchedule.objects.update(lease_until=datetime.now(tz=UTC) - timedelta(seconds=1))


def look_to_the_end(bench) -> None:
    process = look(bench)
    with running(process):
        eventually(lambda: not process.is_alive)


def test_a_look_that_is_killed_removes_nothing_and_the_next_one_goes_on(bench):
    with site() as web:
        for path in paths(PAGES):
            web.page(path, f"About {path}.")
        web.sitemap(*paths(PAGES))
        arranged(bench, web)
        look_to_the_end(bench)
        assert len(rows(bench)) == PAGES
        for path in paths(CHANGED):
            web.page(path, NEW)
        web.sitemap(*paths(PAGES - 1))
        web.delay_s = 1.0
        killed = look(bench)
        with running(killed):
            eventually(lambda: rows(bench, body__contains=NEW))
            assert killed.is_alive
            killed.kill()
        done = len(rows(bench, body__contains=NEW))
        assert 0 < done <= CHANGED
        assert len(rows(bench)) == PAGES
        web.delay_s = 0.0
        the_lease_runs_out(bench)
        look_to_the_end(bench)
    with bench.acme.context():
        changes = SourceSchedule.objects.get(last_outcome="done").last_changes
    assert (changes["created"], changes["updated"], changes["pruned"]) == (0, CHANGED - done, 1)
    live = rows(bench)
    assert len({row.external_id for row in live}) == len(live) == PAGES - 1
    assert sum(row.generation for row in live) == len(live) + CHANGED
    with bench.acme.context():
        runs = ImportRun.objects.filter(source__slug="web").order_by("started_at")
        assert list(runs.values_list("status", flat=True)) == ["done", "failed", "done"]
