"""No statement of a search outlives its deadline, however many statements there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from django.db import connection

from knowledge.retrieval.deadline import Deadline
from tenants.isolation import organization_context
from tenants.patience import patient_for

# A timeout that was set so long ago still holds (seconds): statements that follow each other quickly
# do not pay for another one each.
_STILL_HOLDS: Final = 0.05
# What the server may need to say that a statement's time is over; after that nobody listens any more.
_GRACE_S: Final = 0.5
# For what may be done without rather than waited for until the deadline.
LOCK_WAIT: Final = MappingProxyType({"lock_timeout": "300ms"})


@contextmanager
def until(
    deadline: Deadline,
    *organization_ids: int,
    snapshot: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[None]:
    """Open an organization context in which every statement may take what remains when it begins.

    A server that does not end one loses its connection half a second later.
    Raises: DeadlinePassed, also before a later statement for which nothing remains
    Cost:   a statement more for each that begins 50 ms or more after the last timeout was set.
    """
    deadline.check()
    bounds = _Bounds(deadline)
    with (
        patient_for(deadline.remaining() + _GRACE_S),
        organization_context(
            *organization_ids,
            snapshot=snapshot,
            settings={"statement_timeout": bounds.taken(), **settings},
        ),
        connection.execute_wrapper(bounds),
    ):
        yield


class _Bounds:
    """Sets the timeout anew where the last one would let a statement outlive the deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline
        self._set_to = 0.0

    def taken(self) -> str:
        """Return what remains as a timeout, which is set by whoever asks."""
        self._set_to = self.deadline.remaining()
        return f"{max(1, int(self._set_to * 1000))}ms"

    def __call__(self, execute: Callable[..., Any], *statement: Any) -> Any:
        """Run a statement in what remains."""
        if self._set_to - self.deadline.remaining() > _STILL_HOLDS:
            self.deadline.check()
            told = self.taken()
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [told])
        return execute(*statement)
