"""One event loop per process on a thread of its own, so that synchronous code can really cancel a call."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

GRACE_S = 0.1  # for the cancellation to come back from the loop


class BackgroundLoop:
    """Starts with its first call, and again in a forked child."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0
        os.register_at_fork(after_in_child=self._forget)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The running loop of this process."""
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                self._loop, self._process = _started(), os.getpid()
            return self._loop

    def run(self, work: Coroutine[Any, Any, T], *, budget_s: float) -> T:
        """What `work` returns, cancelled on the loop when the budget is spent.

        Raises: TimeoutError, and whatever `work` raises.
        """
        future = asyncio.run_coroutine_threadsafe(_bounded(work, budget_s), self.loop)
        try:
            return future.result(max(0.0, budget_s) + GRACE_S)
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise

    def _forget(self) -> None:
        # The child has neither the thread nor, perhaps, an unlocked lock.
        self._lock = threading.Lock()
        self._loop = None


async def _bounded(work: Coroutine[Any, Any, T], budget_s: float) -> T:
    async with asyncio.timeout(budget_s):
        return await work


def _started() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="embedding-loop", daemon=True).start()
    return loop


background = BackgroundLoop()
