from __future__ import annotations

import threading

import pytest
from django.db import connection

from knowledge.indexing.embedded import MOST_TEXTS
from knowledge.indexing.writing import withdraw
from knowledge.models import IndexState, Item
from tests.processes import drain, eventually, running
from tests.world import AT


def test_a_drain_killed_while_embedding_loses_nothing_and_pays_for_one_batch_twice_at_most(bench):
    bench.save(150)
    bench.server.behave(delay_s=0.15)
    first = drain(bench.server.base_url)
    with running(first):
        eventually(lambda: bench.indexed() >= 64 and bench.under_way())
        first.kill()
        bench.ten_seconds_pass()
        bench.server.behave()
        with running(drain(bench.server.base_url)):
            bench.converged()
    assert bench.paid_twice() <= MOST_TEXTS


@pytest.mark.slow
def test_a_drain_killed_between_claim_and_apply_loses_nothing(bench):
    bench.save(20)
    bench.server.behave("silent")
    first = drain(bench.server.base_url)
    with running(first):
        eventually(lambda: bench.under_way() and bench.server.calls > 0)
        first.kill()
        bench.server.behave()
        bench.ten_seconds_pass()
        with running(drain(bench.server.base_url)):
            bench.converged()
    assert bench.indexed() == 20


@pytest.mark.slow
def test_a_lease_left_by_a_dead_drain_runs_out_by_itself(bench):
    bench.save(1)
    bench.server.behave("silent")
    first = drain(bench.server.base_url)
    with running(first):
        eventually(lambda: bench.under_way() and bench.server.calls > 0)
        first.kill()
        bench.server.behave()
        with running(drain(bench.server.base_url)):
            bench.converged(within_s=20)


def test_a_drain_told_to_end_gives_back_what_it_had(bench):
    bench.save(200)
    bench.server.behave(delay_s=0.2)
    first = drain(bench.server.base_url)
    with running(first):
        eventually(lambda: bench.under_way())
        assert first.stop() == 0
        assert not bench.under_way()


def test_two_drains_share_the_work_and_pay_once(bench):
    bench.save(300)
    bench.server.behave(delay_s=0.05)
    one, other = drain(bench.server.base_url), drain(bench.server.base_url)
    with running(one, other):
        bench.converged()
        assert all(any('"batch"' in line for line in process.lines()) for process in (one, other))
    assert bench.paid_twice() == 0


def test_a_provider_that_is_down_blocks_no_save_and_is_waited_for(bench):
    bench.server.behave("unavailable")
    with running(drain(bench.server.base_url)):
        bench.save(5)
        eventually(lambda: bench.server.calls > 0)
        bench.server.behave()
        bench.converged()


@pytest.mark.slow
def test_an_item_deleted_while_the_drain_is_stopped_leaves_the_index_when_it_starts(bench):
    bench.save(3)
    with running(drain(bench.server.base_url)):
        bench.converged()
    with bench.acme.context():
        withdraw(Item.objects.get(external_id="item 1"), at=AT)
    with running(drain(bench.server.base_url)):
        bench.converged()
    assert bench.indexed() == 2


def test_twenty_concurrent_saves_of_one_item_end_with_what_was_saved_last(bench):
    bench.acme.source()

    def save(number):
        try:
            bench.acme.item("One", f"Said by {number}.")
        finally:
            connection.close()

    with running(drain(bench.server.base_url)):
        threads = [threading.Thread(target=save, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        bench.converged()
    with bench.acme.context():
        assert IndexState.objects.get().desired_generation == Item.objects.get().generation == 20
