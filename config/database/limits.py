"""How long a statement and a lock may take: what each alias asks of the server, and whether it was heard."""

from __future__ import annotations

from typing import Final

from django.core.exceptions import ImproperlyConfigured
from psycopg import Connection

# A statement that waits for a lock gives up before it blocks everybody queued behind it.
LIMITS: Final = {
    "default": "-c statement_timeout=30s -c lock_timeout=5s "
    "-c idle_in_transaction_session_timeout=60s",
    "owner": "-c lock_timeout=2s",
}
# No statement of the product gives itself more than five minutes; the server says so first.
LONGEST_S: Final = 310.0
_NOT_SET: Final = """
select name from pg_settings
where name in ('statement_timeout', 'lock_timeout') and current_setting(name) = '0'
"""


def refuse_endless_statements(connection: Connection) -> None:
    """Stop when the limits that were asked for do not hold: a pooler may keep them from the server.

    Raises: ImproperlyConfigured
    """
    names = [name for (name,) in connection.execute(_NOT_SET).fetchall()]
    connection.rollback()
    if names:
        raise ImproperlyConfigured(
            f"The connections of DATABASE_URL have no {' and no '.join(sorted(names))}, so nothing"
            " would end a statement that hangs. Set them for the role (docs/server.md)."
        )
