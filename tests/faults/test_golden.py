"""A publish never waits for, fails with, or is undone by the index; faults in the middle are in the matrix."""

from __future__ import annotations

import threading

import pytest

from knowledge.models import Document, Item
from tests.faults.desk import PROMPT_S, Desk, publish_and_let_go
from tests.processes import drain, eventually, running

SOON_S = 30.0


@pytest.fixture
def desk(bench):
    desk = Desk(bench)
    desk.publish("Said first, to warm up.")
    return desk


def indexed_is_published(bench):
    with bench.acme.context():
        indexed = sorted(map(str, Document.objects.values_list("asset_id", flat=True)))
        live = Item.objects.exclude(published_version=None)
        return indexed == sorted(map(str, live.values_list("pk", flat=True)))


def at_rest(bench):
    eventually(bench.nothing_waits, within_s=SOON_S)
    assert indexed_is_published(bench)


def test_an_answer_archived_while_no_drain_runs_is_not_indexed_when_one_starts(bench, desk):
    with running(drain(bench.server.base_url)):
        at_rest(bench)
    assert desk.archive() < PROMPT_S
    with running(drain(bench.server.base_url)):
        at_rest(bench)
    assert desk.served() == []


def test_publishing_from_several_sides_at_once_ends_with_one_document_each(bench, desk):
    threads = [
        threading.Thread(target=publish_and_let_go, args=(desk, f"It is on floor {n}."))
        for n in range(8)
    ]
    with running(drain(bench.server.base_url), drain(bench.server.base_url)):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        at_rest(bench)
    assert len(desk.served()) == 9
