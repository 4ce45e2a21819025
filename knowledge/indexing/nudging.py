"""Tells whoever drains the queue that something is due; the row is the queue, this only saves waiting.

A nudge may be lost, doubled or late. It never fails a save and never holds one up for longer
than half a second, and after a failure nobody is asked again for half a minute.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from celery import current_app
from django.conf import settings
from django.db import Error, connection, transaction

CHANNEL: Final = "earmark_index"
TASK: Final = "knowledge.converge_due"
LONGEST_WAIT_S: Final = 0.25
SILENCE_S: Final = 30.0
_logger = logging.getLogger(__name__)


class Breaker:
    """Stays away from a broker that failed, for a while."""

    def __init__(self, silence_s: float = SILENCE_S) -> None:
        self.silence_s = silence_s
        self._quiet_until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the broker is left alone now."""
        return time.monotonic() < self._quiet_until

    def trip(self) -> None:
        """Leave the broker alone from now on."""
        self._quiet_until = time.monotonic() + self.silence_s

    def reset(self) -> None:
        """Ask again at the next nudge."""
        self._quiet_until = 0.0


breaker: Final = Breaker()


def nudge_after_commit() -> None:
    """Nudge once when the current transaction has committed."""
    waiting = connection.run_on_commit
    # Several changes in one transaction are one nudge.
    if not (waiting and waiting[-1][1] is nudge):
        transaction.on_commit(nudge, robust=True)


def nudge() -> None:
    """Tell the drain, or a Celery worker where there is a broker."""
    if settings.REDIS_URL:
        _nudge_workers()
    else:
        _nudge_drain()


def _nudge_drain() -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, '')", [CHANNEL])
    except Error as error:
        _logger.warning("nudge failed", extra={"error": type(error).__name__})


def _nudge_workers() -> None:
    if breaker.is_open:
        return
    # Client libraries retry and wait in ways their settings do not bound, so the clock is here.
    sending = threading.Thread(target=_send, daemon=True)
    breaker.trip()
    sending.start()
    sending.join(LONGEST_WAIT_S)


def _send() -> None:
    try:
        current_app.send_task(TASK, retry=False, expires=15, ignore_result=True)
    # Whatever the broker does, the row is safe.
    except Exception as error:
        _logger.warning("nudge failed", extra={"error": type(error).__name__})
    else:
        breaker.reset()
