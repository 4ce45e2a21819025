"""Let the threads of a web process share connections, so that waiting threads hold none."""

from __future__ import annotations

from typing import Final, cast

from django.db import connections

from config.database.base import DatabaseWrapper
from config.database.bounded import BoundedConnection

# Longer than this nobody waits for a connection; twice this still fits into a search's deadline.
_PATIENCE_S: Final = 2.0
# The pool asks ever more rarely for a connection that it cannot have; after this it leaves off, and
# whoever needs one next has it ask anew.
_PERSISTENCE_S: Final = 2.0


def share_connections(most: int, *, alias: str = "default") -> None:
    """Give out at most so many connections to this process's threads; 0 leaves each its own.

    Called before the first connection; only the web server does, for it alone has many threads that
    mostly wait.
    """
    if not most:
        return
    entry = connections.settings[alias]
    entry["CONN_MAX_AGE"] = 0
    entry["OPTIONS"]["pool"] = {
        "min_size": 1,
        "max_size": most,
        "timeout": _PATIENCE_S,
        "reconnect_timeout": _PERSISTENCE_S,
        "connection_class": BoundedConnection,
    }


def forget_connections(*, alias: str = "default") -> None:
    """Close what was opened before a fork: neither a pool's threads nor its connections survive one."""
    connection = connections[alias]
    connection.close()
    if connection.settings_dict["OPTIONS"].get("pool"):
        cast(DatabaseWrapper, connection).close_pool()
