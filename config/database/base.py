"""PostgreSQL as Django knows it, with two duties added before the first statement."""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql.base import DatabaseWrapper as PostgreSQLWrapper

from config.database.roles import refuse_unsafe_role
from config.embedded import ensure_running


class DatabaseWrapper(PostgreSQLWrapper):
    """Starts the embedded server when it is wanted, and refuses a role that row security does not bind."""

    role_is_safe = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection of a role that may be used."""
        purpose = self.settings_dict.get("EMBEDDED")
        if purpose:
            ensure_running(purpose)
        connection = super().get_new_connection(conn_params)
        if self.alias == "default" and not self.role_is_safe:
            refuse_unsafe_role(connection)
            self.role_is_safe = True
        return connection
