from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection

from knowledge.errors import EmbeddingUnavailable
from knowledge.indexing import draining
from knowledge.indexing.draining import BATCH, Chore, Drain, due_assets
from knowledge.indexing.status import backlog, wait_until_indexed, waiting
from knowledge.models import Document, IndexState
from knowledge.shelving.working import work_waiting
from tests.embedders import CountingEmbedder
from tests.shelves import order
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme():
    return tenant("acme")


def drain(embedder=None, **more):
    return Drain(embedder or CountingEmbedder(), lambda: AT, **more)


def queued(acme, count, *, seconds_ago=100):
    at = AT - timedelta(seconds=seconds_ago)
    with acme.context():
        IndexState.objects.bulk_create(
            IndexState(
                organization=acme.organization, category="knowledge", desired_generation=1,
                next_attempt_at=at + timedelta(milliseconds=number), desired_at=at,
            )
            for number in range(count)
        )  # fmt: skip


def test_a_step_indexes_what_is_due_in_every_organization(acme):
    globex = tenant("globex")
    acme.item("Hours")
    globex.item("Prices")
    assert drain().step() == 2
    for one in (acme, globex):
        with one.context():
            assert Document.objects.count() == 1


def test_what_is_not_due_yet_waits(acme):
    acme.item("Hours")
    with acme.context():
        IndexState.objects.update(next_attempt_at=AT + timedelta(seconds=1))
    assert drain().step() == 0


def test_an_import_does_not_hold_up_another_organization(acme):
    queued(acme, 500)
    globex = tenant("globex")
    globex.item("Prices")
    due = due_assets(at=AT, most=BATCH)
    assert len(due[globex.organization.pk]) == 1
    assert len(due[acme.organization.pk]) == BATCH - 1


def test_an_import_does_not_hold_up_the_newest_change(acme):
    queued(acme, 500)
    newest = acme.item("Hours")
    assert ("knowledge", newest) in due_assets(at=AT, most=BATCH)[acme.organization.pk]


def test_nothing_is_due_twice(acme):
    queued(acme, 30)
    due = due_assets(at=AT, most=BATCH)[acme.organization.pk]
    assert len(due) == len(set(due)) == 30


def test_a_provider_that_cannot_answer_is_left_alone_for_a_while(acme):
    acme.item("Hours")
    globex = tenant("globex")
    globex.item("Prices")

    def down(_texts):
        raise EmbeddingUnavailable

    embedder = CountingEmbedder(before=down)
    working = drain(embedder)
    working.step()
    assert working.step() == 0
    assert len(embedder.calls) == 1


def test_chores_are_done_when_nothing_is_due(acme):
    done: list[object] = []
    working = drain(chores=[Chore("count", 0.0, done.append)])

    def finish():
        while not done:
            pass
        working.stop.set()
        connection.close()

    watching = threading.Thread(target=finish)
    watching.start()
    run(working)
    watching.join()
    assert done[0] == AT


def test_a_chore_that_fails_does_not_end_the_drain(acme):
    seen = []

    def fail(_at):
        seen.append(1)
        if len(seen) > 1:
            working.stop.set()
        raise RuntimeError

    working = drain(chores=[Chore("fail", 0.0, fail)])
    run(working)
    assert len(seen) == 2


def run(working):
    """Drain until told to stop, and until the chores have ended too."""
    working.run()
    for chore in working.chores:
        if chore.thread is not None:
            chore.thread.join()


def until_nothing_waits(acme, working):
    """Have the drain end when its queue is empty."""

    def end(_at):
        if not waiting(acme.organization.pk):
            working.stop.set()

    return Chore("end", 0.0, end)


def test_a_bulk_job_ends_before_a_long_queue_is_empty(acme, monkeypatch):
    monkeypatch.setattr(draining, "BATCH", 2)
    items = [acme.item(f"Item {number}") for number in range(12)]
    ended, left = threading.Event(), []

    def slow(_texts):
        if len(embedder.calls) == 2:
            order(acme, "unpublish", items[-1])
        if len(embedder.calls) > 2:
            ended.wait(10)

    def bulk(at):
        before = waiting(acme.organization.pk)
        if work_waiting(clock=lambda: at):
            left.append(before)
            ended.set()

    embedder = CountingEmbedder(before=slow)
    working = drain(embedder)
    working.chores = (Chore("bulk", 0.0, bulk), until_nothing_waits(acme, working))
    run(working)
    assert left[0] > 0


def test_chores_are_begun_while_every_batch_fails(acme, monkeypatch):
    begun = threading.Event()

    def fail(*_arguments, **_more):
        raise RuntimeError

    def begin(_at):
        begun.set()
        working.stop.set()

    monkeypatch.setattr(draining, "due_assets", fail)
    working = drain(chores=[Chore("begin", 0.0, begin)])
    ending = threading.Timer(10, working.stop.set)
    ending.start()
    run(working)
    ending.cancel()
    assert begun.is_set()


def test_a_chore_that_takes_long_holds_up_neither_the_queue_nor_another(acme):
    acme.item("Hours")
    indexed = threading.Event()

    def long(_at):
        assert indexed.wait(10)

    def look(_at):
        if not waiting(acme.organization.pk):
            indexed.set()
            working.stop.set()

    working = drain(chores=[Chore("long", 60.0, long), Chore("look", 0.0, look)])
    ending = threading.Timer(10, working.stop.set)
    ending.start()
    run(working)
    ending.cancel()
    assert indexed.is_set()


def test_a_backlog_counts_what_is_behind(acme):
    acme.item("Hours")
    acme.item("Prices")
    drain().step()
    acme.item("Prices", "They rise.")
    found = backlog(acme.organization, at=AT + timedelta(seconds=7))
    assert (found.assets, found.live, found.pending, found.failed) == (2, 1, 1, 0)
    assert found.oldest_pending_s == 7


def test_waiting_ends_when_everything_is_indexed_or_the_time_is_over(acme):
    acme.item("Hours")
    assert not wait_until_indexed(acme.organization.pk, timeout=0.05)
    drain().step()
    assert wait_until_indexed(acme.organization.pk, timeout=0.05)
