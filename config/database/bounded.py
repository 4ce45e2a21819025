"""A connection whose thread gets away from it: no answer is awaited for ever, and no server kept that takes no writes."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, Final, Self, TypeVar, cast

import psycopg
from psycopg.abc import PQGen, PQGenConn
from psycopg.errors import FeatureNotSupported, ReadOnlySqlTransaction, _WaitTimeout

from tenants.patience import patience_left

_RV = TypeVar("_RV")
_INTERVAL_S: Final = 0.1


class BoundedConnection(psycopg.Connection[Any]):
    """Gives up by the client's clock: a server that is frozen, or behind a broken network, keeps no time."""

    # The longest that one statement may take, where nothing else is said.
    longest_s: float = math.inf

    @classmethod
    def _connect_gen(cls, conninfo: str = "") -> PQGenConn[Self]:
        """Connect for as long as the thread may wait: psycopg's own limit is never below two seconds."""
        connecting = super()._connect_gen(conninfo)
        try:
            wanted = next(connecting)
            while patience_left() > 0:
                wanted = connecting.send((yield wanted))
        except StopIteration as made:
            return cast(Self, made.value)
        raise psycopg.OperationalError("No time is left for a connection.")

    def wait(
        self, gen: PQGen[_RV], interval: float = _INTERVAL_S, timeout: float | None = None
    ) -> _RV:
        """Await an answer; a connection that owes one is closed, for the next to read would get that.

        Raises: OperationalError, also for a server that has become a standby
        Cost:   two microseconds
        """
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, max(0.0, min(patience_left(), self.longest_s)))
        except _WaitTimeout:
            self.pgconn.finish()
            raise psycopg.OperationalError("The database did not answer in time.") from None
        except (ReadOnlySqlTransaction, FeatureNotSupported) as refused:
            if isinstance(refused, FeatureNotSupported) and not self._is_in_recovery():
                raise
            # What connects next finds the server that takes writes.
            self.pgconn.finish()
            raise psycopg.OperationalError("The database takes no writes.") from refused

    def _is_in_recovery(self) -> bool:
        return self.pgconn.parameter_status(b"in_hot_standby") == b"on"


# Django asks this for its connections and its classes of errors.
BOUNDED: Final = cast(
    Any, SimpleNamespace(**(vars(psycopg) | {"connect": BoundedConnection.connect}))
)
