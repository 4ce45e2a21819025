from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection

from knowledge.errors import EmbeddingUnavailable
from knowledge.indexing.draining import BATCH, Chore, Drain, due_assets
from knowledge.indexing.status import backlog, wait_until_indexed
from knowledge.models import Document, IndexState
from tests.embedders import CountingEmbedder
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
    working.run()
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
    working.run()
    assert len(seen) == 2


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
