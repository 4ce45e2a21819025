"""Two people at once: one has done something that is not committed yet while the other one waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.db import connection, connections

from tenants.isolation import organization_context

PATIENCE_S: Final = 30
_WAITS: Final = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@contextmanager
def meanwhile(organization_id: int, do: Callable[[], object]) -> Iterator[threading.Event]:
    """Somebody else has done something in a transaction that ends after the block."""
    done, over = threading.Event(), threading.Event()
    failures: list[Exception] = []

    def other() -> None:
        try:
            with organization_context(organization_id):
                do()
                done.set()
                over.wait(PATIENCE_S)
        except Exception as failure:
            failures.append(failure)
            done.set()
        finally:
            connections.close_all()

    thread = threading.Thread(target=other)
    thread.start()
    assert done.wait(PATIENCE_S)
    try:
        yield over
    finally:
        over.set()
        thread.join(PATIENCE_S)
    assert failures == []


@contextmanager
def committed_while_waited_for(organization_id: int, do: Callable[[], object]) -> Iterator[None]:
    """Somebody else has done something, and commits it as soon as the block waits for it.

    A block that waits for nothing is one that has looked at what was not committed yet: it fails.
    """
    waited: list[bool] = []
    with meanwhile(organization_id, do) as over:
        watcher = threading.Thread(target=lambda: waited.append(_end_when_waited_for(over)))
        watcher.start()
        yield
        over.set()
        watcher.join(PATIENCE_S)
    assert waited == [True], "Nobody waited."


def _end_when_waited_for(over: threading.Event) -> bool:
    try:
        end = time.monotonic() + PATIENCE_S
        while not over.is_set() and time.monotonic() < end:
            with connection.cursor() as cursor:
                cursor.execute(_WAITS)
                if cursor.fetchone() != (0,):
                    return True
            time.sleep(0.02)
        return False
    finally:
        over.set()
        connections.close_all()
