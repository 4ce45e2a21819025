"""How much time is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from knowledge.errors import KnowledgeError


class DeadlinePassed(KnowledgeError):
    """The time for this search is over."""

    code = "deadline_passed"
    retryable = True


@dataclass(frozen=True)
class Deadline:
    """One instant by which the answer must be out; every step asks it, none keeps its own clock.

    Units: seconds of a monotonic clock.
    """

    ends: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """Return the deadline that many seconds from now."""
        return cls(clock() + seconds, clock)

    def earlier(self, seconds: float) -> Deadline:
        """Return the deadline of a step that leaves that much for what follows."""
        return Deadline(self.ends - seconds, self.clock)

    def remaining(self) -> float:
        """Return the seconds left, never below zero."""
        return max(0.0, self.ends - self.clock())

    def check(self) -> None:
        """Raise DeadlinePassed when nothing is left."""
        if not self.remaining():
            raise DeadlinePassed
