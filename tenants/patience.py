"""How long a thread waits for the database, whatever the database does about its own limits."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ends: ContextVar[float] = ContextVar("ends", default=math.inf)


@contextmanager
def patient_for(seconds: float) -> Iterator[None]:
    """Have every wait for the database in this block given up after so long from now, and its connection with it.

    An enclosing block that ends sooner still does.
    """
    token = _ends.set(min(_ends.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _ends.reset(token)


def patience_left() -> float:
    """Return the seconds that a wait may still take: below zero when they are over, infinite where none were set."""
    return _ends.get() - time.monotonic()
