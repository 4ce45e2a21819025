"""Doing a piece of work again when the database was away for a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from django.db import InterfaceError, OperationalError, connection

ResultT = TypeVar("ResultT")
PAUSES_S: Final = (0.2, 0.5, 1, 2, 4, 8, 15)


def persistently(work: Callable[[], ResultT]) -> ResultT:
    """Return the result of work that is safe to repeat; lost connections and deadlocks repeat it.

    Units: gives up after about half a minute.
    Raises: OperationalError
    """
    for pause in PAUSES_S:
        try:
            return work()
        except (OperationalError, InterfaceError):
            if connection.in_atomic_block:
                raise
            connection.close()
            time.sleep(pause)
    return work()
