"""Sources and uploads through Celery's own functions, the same code as the drain's chores."""

from __future__ import annotations

import pytest
from django.utils import timezone

from config.celery import app
from config.settings import base
from knowledge.ingestion.uploads import HandedIn, hand_in
from knowledge.models import ImportUpload, Item, Source, SourceSchedule
from knowledge.tasks import import_uploads, sync_sources
from tests.site_server import site
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db


def test_everything_that_beat_sends_is_a_task_that_is_known():
    app.loader.import_default_modules()
    sent = {entry["task"] for entry in base.CELERY_BEAT_SCHEDULE.values()}
    assert sent | set(base.CELERY_TASK_ROUTES) <= set(app.tasks)


def test_a_task_brings_in_what_was_handed_in():
    acme = tenant("acme")
    source = acme.source()
    with acme.context():
        hand_in(source, "", [HandedIn("a.md", b"# A\n\nAbout a.")], by=BY, at=AT)
    assert import_uploads() == 1
    with acme.context():
        assert (Item.objects.get().title, ImportUpload.objects.get().outcome) == ("A", "done")


def test_a_task_looks_at_the_sources_that_are_due():
    acme = tenant("acme")
    with acme.context():
        source = Source.objects.create(organization=acme.organization, slug="web", name="Web")
    with site() as web:
        web.page("/", "Welcome to our site.")
        with acme.context():
            SourceSchedule.objects.create(
                organization=acme.organization, source=source, kind="site", next_run_at=AT,
                config={"start": f"{web.address}/"},
            )  # fmt: skip
        assert sync_sources() == ["acme/web"]
    with acme.context():
        assert Item.objects.get().url == f"{web.address}/"
        assert SourceSchedule.objects.filter(next_run_at__gt=timezone.now()).count() == 1
