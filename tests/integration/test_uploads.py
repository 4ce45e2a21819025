"""Files that people hand in: progress, pause, cancel, retry and an outcome for each."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO

import pytest
from django.core.files.base import File

from knowledge.ingestion import uploads
from knowledge.ingestion.errors import ImportRefused
from knowledge.ingestion.uploads import (
    HandedIn,
    cancel,
    hand_in,
    import_waiting,
    pause,
    resume,
    retry,
)
from knowledge.ingestion.writing import write_batch
from knowledge.models import ImportFailure, ImportRun, ImportUpload, Item, Source
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db


class Clock:
    def __init__(self):
        self.now = AT

    def __call__(self):
        self.now += timedelta(milliseconds=1)
        return self.now


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def clock():
    return Clock()


def handed(acme, clock, *files, folder=""):
    source = acme.source()
    with acme.context():
        return hand_in(source, folder, [HandedIn(*f) for f in files], by=BY, at=clock())


GOOD = ("hours.md", b"# Hours\n\nWe open at seven.")
BAD = ("broken.pdf", b"%PDF-1.4 nonsense")


def outcomes(acme):
    with acme.context():
        return dict(ImportUpload.objects.values_list("name", "outcome"))


def status(acme):
    with acme.context():
        return ImportRun.objects.get().status


def test_each_file_has_its_own_outcome(acme, clock):
    handed(acme, clock, GOOD, BAD, folder="desk")
    assert import_waiting(clock=clock) == 2
    assert outcomes(acme) == {"hours.md": "done", "broken.pdf": "failed"}
    assert status(acme) == "done"
    with acme.context():
        assert Item.objects.get().folder_key == "help/desk"
        failure = ImportFailure.objects.get()
        upload = ImportUpload.objects.get(name="broken.pdf")
        assert (failure.path, failure.reason) == ("broken.pdf", upload.reason)
        assert bytes(ImportUpload.objects.get(name="hours.md").content) == b""


def test_a_paused_import_waits_until_it_goes_on(acme, clock):
    run = handed(acme, clock, GOOD)
    with acme.context():
        pause(run, by=BY, at=clock())
    assert import_waiting(clock=clock) == 0
    with acme.context():
        resume(run, by=BY, at=clock())
    assert import_waiting(clock=clock) == 1
    assert status(acme) == "done"


def test_a_cancelled_import_takes_up_nothing_more(acme, clock):
    run = handed(acme, clock, GOOD)
    with acme.context():
        cancel(run, by=BY, at=clock())
    assert import_waiting(clock=clock) == 0
    assert (outcomes(acme), status(acme)) == ({"hours.md": "cancelled"}, "cancelled")


def test_what_failed_is_tried_again(acme, clock):
    run = handed(acme, clock, GOOD, BAD)
    import_waiting(clock=clock)
    with acme.context():
        ImportUpload.objects.filter(name="broken.pdf").update(
            name="mended.md", content=b"It works now."
        )
        assert retry(run, by=BY, at=clock()) == 1
    assert status(acme) == "running"
    import_waiting(clock=clock)
    assert set(outcomes(acme).values()) == {"done"}


def test_a_file_whose_process_died_is_taken_over(acme, clock):
    handed(acme, clock, GOOD)
    with acme.context():
        ImportUpload.objects.update(lease_until=AT + timedelta(minutes=5))
    assert import_waiting(clock=clock) == 0
    clock.now += timedelta(minutes=6)
    assert import_waiting(clock=clock) == 1


class Watched(BytesIO):
    """A file that remembers how much of it was asked for at once."""

    def __init__(self, content):
        super().__init__(content)
        self.asked = []

    def read(self, size=-1):
        self.asked.append(size)
        return super().read(size)


def test_a_file_is_read_in_pieces_and_kept_as_it_was(acme, clock, monkeypatch):
    monkeypatch.setattr("knowledge.ingestion.uploads.PIECE", 1000)
    sent = bytes(range(256)) * 10
    file = Watched(sent)
    handed(acme, clock, ("long.md", File(file)), ("empty.md", File(BytesIO())), GOOD)
    with acme.context():
        kept = {one.name: (one.size, bytes(one.content)) for one in ImportUpload.objects.all()}
    wanted = {"long.md": sent, "empty.md": b"", GOOD[0]: GOOD[1]}
    assert kept == {name: (len(content), content) for name, content in wanted.items()}
    assert set(file.asked) == {1000}


def test_a_file_that_takes_longer_than_a_lease_is_read_by_one_process_only(
    acme, clock, monkeypatch
):
    rows = "".join(f"Item {n},It says {n}.\n" for n in range(250))
    run = handed(acme, clock, ("items.csv", f"title,body\n{rows}".encode()))
    meanwhile: list[int] = []

    def slowly(running, batch):
        if running.run.pk == run.pk and not meanwhile.count(1):
            clock.now += timedelta(minutes=6)
            meanwhile.append(import_waiting(clock=clock))
        return write_batch(running, batch)

    monkeypatch.setattr(uploads, "write_batch", slowly)
    assert import_waiting(clock=clock) == 1
    assert len(meanwhile) > 2
    assert set(meanwhile) == {0}
    with acme.context():
        assert ImportRun.objects.get(pk=run.pk).created == 250


def test_whoever_brings_files_in_for_a_time_leaves_the_rest_to_the_next(acme, clock):
    handed(acme, clock, GOOD, BAD)
    assert import_waiting(clock=clock, seconds=0) == 1
    assert list(outcomes(acme).values()).count("waiting") == 1
    assert import_waiting(clock=clock, seconds=0) == 1


def test_golden_answers_cannot_be_handed_in(acme, clock):
    with acme.context():
        source = Source.objects.create(
            organization=acme.organization, slug="golden", name="Golden", kind="golden"
        )
        with pytest.raises(ImportRefused):
            hand_in(source, "", [HandedIn(*GOOD)], by=BY, at=AT)
