"""One poisonous document among many: in the middle, at an end, alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from knowledge.indexing.draining import Drain
from knowledge.ingestion.importing import run_import
from knowledge.ingestion.request import ImportRequest
from knowledge.ingestion.sandbox import Sandbox
from knowledge.models import ImportFailure, IndexState, Item

COUNT = 40
POISON = "It says poison."


class Clock:
    """Every look is a quarter of an hour later than the one before."""

    def __init__(self) -> None:
        self.now = datetime.now(tz=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=15)
        return self.now


def work(bench, clock) -> None:
    # A new drain each time: none of them remembers that the provider wants a rest.
    for _ in range(12):
        Drain(bench.embedder(), clock).step()


@pytest.mark.parametrize("place", [0, COUNT // 2, COUNT - 1])
def test_a_document_that_the_provider_refuses_takes_no_other_along(bench, place):
    bench.server.poison = POISON
    bench.save(place)
    bad = bench.acme.item("bad", POISON)
    bench.save(COUNT - 1 - place, first=place)
    clock = Clock()
    work(bench, clock)
    assert bench.indexed() == COUNT - 1
    assert_told(bench, bad)
    bench.server.poison = ""
    bench.acme.item("bad", "It says something else.")
    work(bench, clock)
    assert bench.indexed() == COUNT


def test_a_poisonous_document_alone_fails_with_a_reason_and_is_asked_for_no_more(bench):
    bench.server.poison = POISON
    bad = bench.acme.item("bad", POISON)
    clock = Clock()
    work(bench, clock)
    assert_told(bench, bad)
    asked = bench.server.calls
    work(bench, clock)
    assert bench.server.calls == asked


def assert_told(bench, bad) -> None:
    with bench.acme.context():
        state = IndexState.objects.get(asset_id=bad)
        assert (state.status, state.last_error_code) == ("failed", "embedding_rejected")
        assert state.last_error
        assert POISON not in state.last_error


@pytest.mark.parametrize(
    "names",
    [("abort", "fine", "print"), ("fine", "abort", "print"), ("fine", "print", "abort"), ("abort",)],
    ids=["at the beginning", "in the middle", "at the end", "alone"],
)  # fmt: skip
def test_a_file_that_kills_its_reader_takes_no_other_along(bench, names, tmp_path, monkeypatch):
    for number, name in enumerate(names):
        place = tmp_path / f"{number}"
        place.mkdir()
        (place / name).write_text("What the reader does is in its name.")
    reader = partial(Sandbox, wall_seconds=60, child="tests.poisoned_reader")
    monkeypatch.setattr("knowledge.ingestion.importing.Sandbox", reader)
    request = ImportRequest(bench.organization_id, (str(tmp_path),), "files")
    run = run_import(request, clock=lambda: datetime.now(tz=UTC), watch=lambda _progress: None).run
    assert (run.created, run.failed) == (len(names) - 1, 1)
    with bench.acme.context():
        assert ImportFailure.objects.get().code == "reader_crashed"
        named = {
            name.rpartition("/")[2] for name in Item.objects.values_list("external_id", flat=True)
        }
        assert named == set(names) - {"abort"}
