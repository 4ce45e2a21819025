"""How many requests this process works on at once; one more is refused, never queued."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import BoundedSemaphore

from django.conf import settings

from voiceapi import metrics
from voiceapi.errors import Overloaded


@contextmanager
def admitted() -> Iterator[None]:
    """Hold one of the process's places for the time of a request.

    Raises: Overloaded, at once
    """
    places = _places()
    if not places.acquire(blocking=False):
        raise Overloaded
    metrics.IN_FLIGHT.inc()
    try:
        yield
    finally:
        metrics.IN_FLIGHT.dec()
        places.release()


@lru_cache(maxsize=1)
def _places() -> BoundedSemaphore:
    return BoundedSemaphore(settings.VOICE_CONCURRENCY)
