"""Whether row level security binds a database role."""

from __future__ import annotations

from typing import Final

from django.core.exceptions import ImproperlyConfigured
from psycopg import Connection

_FACTS: Final = """
select rolname, rolsuper, rolbypassrls, exists (
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname = current_schema()
      and pg_has_role(current_user, c.relowner, 'usage'))
from pg_roles where rolname = current_user
"""


def refuse_unsafe_role(connection: Connection) -> None:
    """Stop when the role of this connection could read another organization's rows.

    Raises: ImproperlyConfigured for a superuser, BYPASSRLS or an owner of tables.
    """
    with connection.cursor() as cursor:
        row = cursor.execute(_FACTS).fetchone()
    connection.rollback()
    if row is None:
        raise ImproperlyConfigured("The database role of DATABASE_URL cannot be read.")
    name, superuser, bypasses, owns = row
    faults = {"is a superuser": superuser, "has BYPASSRLS": bypasses, "owns the tables": owns}
    reason = next((fault for fault, found in faults.items() if found), None)
    if reason:
        raise ImproperlyConfigured(
            f"The database role {name} of DATABASE_URL {reason}, so row level security would not"
            " bind it. Give an ordinary role there and the owner in DATABASE_OWNER_URL"
            " (docs/operations.md)."
        )
