"""Whether the database that a connection leads to takes writes."""

from __future__ import annotations

from typing import Any

from django.db import OperationalError, connection


def require_writable(cursor: Any) -> None:
    """Drop the connection of a server that takes none, so that the next leads to one that does.

    Raises: OperationalError
    Cost:   one statement
    """
    cursor.execute("SELECT current_setting('transaction_read_only')")
    if cursor.fetchone()[0] == "on":
        connection.connection.close()
        raise OperationalError("The database takes no writes.")
