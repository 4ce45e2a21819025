"""PostgreSQL as Django knows it, with duties added before the first statement and an end to every wait."""

from __future__ import annotations

from typing import Any, Final, cast

from django.db.backends.postgresql.base import DatabaseWrapper as PostgreSQLWrapper
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from psycopg import OperationalError

from config.database.bounded import BOUNDED, BoundedConnection
from config.database.limits import LONGEST_S, refuse_endless_statements
from config.database.roles import refuse_unsafe_role
from config.embedded import ensure_running
from tenants.patience import patience_left, patient_for

# A connection that was kept and does not answer in so long is given up for another one.
_TRIAL_S: Final = 2.0


class DatabaseWrapper(PostgreSQLWrapper):
    """Starts the embedded server when it is wanted, and refuses a role that row security does not bind."""

    Database = BOUNDED
    is_checked = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection of a role that may be used, whose statements end."""
        purpose = self.settings_dict.get("EMBEDDED")
        if purpose:
            ensure_running(purpose)
        left = patience_left()
        if left <= 0:
            raise OperationalError("No time is left for a connection.")
        connection = self._shared(left) if self.pool else super().get_new_connection(conn_params)
        if self.alias == "default":
            connection.longest_s = LONGEST_S
            self._check(connection)
        return connection

    def is_usable(self) -> bool:
        """Whether it answers soon; Django asks before it uses a connection that it kept."""
        with patient_for(_TRIAL_S):
            return bool(super().is_usable())

    def _shared(self, left: float) -> BoundedConnection:
        # As Django's own, which cannot be told how long to wait.
        self.isolation_level = IsolationLevel.READ_COMMITTED
        pool = cast(Any, self.pool)
        pool.open()
        with patient_for(_TRIAL_S):
            return cast(BoundedConnection, pool.getconn(min(pool.timeout, left)))

    def _check(self, connection: BoundedConnection) -> None:
        if not self.is_checked:
            refuse_unsafe_role(connection)
            refuse_endless_statements(connection)
            self.is_checked = True
