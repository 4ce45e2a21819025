"""A circuit breaker: after a few failures nobody waits for an endpoint that is down."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable


class Breaker:
    """Closed until `failures` happen within `window_s`; then open for `open_s`; then one call probes.

    Units: seconds of `clock`.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        window_s: float = 20.0,
        open_s: float = 15.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures: deque[float] = deque(maxlen=failures)
        self._window_s, self._open_s, self._clock = window_s, open_s, clock
        self._opens_at: float | None = None  # when the next probe may go; None while closed
        self._probing: int | None = None  # the thread whose call is the probe
        self._lock = threading.Lock()

    def wait_s(self) -> float:
        """Seconds until a call may be tried; 0.0 admits this one, which must report how it went."""
        with self._lock:
            now = self._clock()
            if self._opens_at is None:
                return 0.0
            if now < self._opens_at:
                return self._opens_at - now
            # This caller is the probe. One that never reports is replaced after a while.
            self._opens_at = now + self._open_s
            self._probing = threading.get_ident()
            return 0.0

    @property
    def is_open(self) -> bool:
        """Whether calls are kept back, or one of them has yet to show that it works again."""
        return self._opens_at is not None

    def succeeded(self) -> None:
        """The endpoint answered, be it with a refusal."""
        with self._lock:
            self._opens_at = self._probing = None
            self._failures.clear()

    def undecided(self) -> None:
        """The call ended before the endpoint could show anything; the next call may probe at once."""
        with self._lock:
            if self._probing == threading.get_ident():
                self._opens_at, self._probing = self._clock(), None

    def failed(self) -> None:
        """The endpoint was late, unreachable or out of order."""
        with self._lock:
            now = self._clock()
            self._probing = None
            self._failures.append(now)
            full = len(self._failures) == self._failures.maxlen
            if self._opens_at is not None or (full and now - self._failures[0] <= self._window_s):
                self._opens_at = now + self._open_s
