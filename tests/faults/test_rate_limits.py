"""What a provider asks of one process, every process does: drains and Celery's children alike."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from django.db import connection, transaction

from knowledge.models import IndexState, ProviderPause
from tests.faults.test_celery import broker  # noqa: F401 - a fixture
from tests.processes import drain, eventually, running, worker

# In seconds: so long that the slowest machine has looked several times before it is over.
LONG = 600
_DONE = "knowledge.converge_due["


def told_to_wait() -> bool:
    return ProviderPause.objects.filter(until__gt=datetime.now(tz=UTC)).exists()


class Lookers:
    """Connections of other processes that were seen looking whether they have to wait.

    Whoever looks while the table is locked stands still with that statement for as long.
    """

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def are(self, count: int) -> bool:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE knowledge_providerpause IN ACCESS EXCLUSIVE MODE")
            time.sleep(1)
            cursor.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND query LIKE '%knowledge_providerpause%'"
            )
            self.seen |= {pid for (pid,) in cursor.fetchall()}
        return len(self.seen) >= count


def the_wait_is_over(bench) -> None:
    now = datetime.now(tz=UTC)
    ProviderPause.objects.update(until=now)
    with bench.acme.context():
        IndexState.objects.update(next_attempt_at=now)


def test_a_drain_asks_nothing_while_another_was_told_to_wait(bench):
    bench.server.behave("rate_limited", retry_after=LONG)
    bench.save(100)
    with running(drain(bench.server.base_url)):
        eventually(lambda: bench.server.calls and told_to_wait())
        bench.save(20, first=100)
        with running(drain(bench.server.base_url)):
            lookers = Lookers()
            eventually(lambda: lookers.are(2))
            assert bench.server.calls == 1
    # Two more that know of it only from the table.
    with running(drain(bench.server.base_url), drain(bench.server.base_url)):
        lookers = Lookers()
        eventually(lambda: lookers.are(2))
        assert bench.server.calls == 1
        bench.server.behave()
        the_wait_is_over(bench)
        bench.converged()


def finished(*workers) -> int:
    lines = [line for process in workers for line in process.lines()]
    return sum(_DONE in line and "succeeded" in line for line in lines)


def test_no_child_of_any_worker_asks_while_one_was_told_to_wait(bench, broker):  # noqa: F811
    bench.server.behave("rate_limited", retry_after=LONG)
    arguments = (bench.server.base_url, broker.url)
    one, other = worker(*arguments), worker(*arguments)
    with running(one, other):
        bench.save(100)
        broker.sweep()
        eventually(lambda: bench.server.calls and told_to_wait() and not bench.under_way())
        asked, done = bench.server.calls, finished(one, other)
        bench.save(300, first=100)
        while finished(one, other) < done + 10:
            broker.sweep()
            time.sleep(0.5)
        assert bench.server.calls == asked <= 4
