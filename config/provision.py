"""Roles, database and grants of the embedded server; safe to repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal

OWNER: Final = "earmark_owner"
APP: Final = "earmark_app"
SUPERUSER: Final = "earmark_superuser"

_GRANTS: Final = SQL(
    """
    create extension if not exists vector;
    alter schema public owner to {owner};
    grant usage on schema public to {app};
    alter default privileges for role {owner} in schema public
        grant select, insert, update, delete on tables to {app};
    alter default privileges for role {owner} in schema public
        grant usage, select on sequences to {app};
    """
)


def create_roles(connection: Connection, passwords: Mapping[str, str]) -> None:
    """The two roles, neither of them above row level security."""
    for role in (OWNER, APP):
        found = connection.execute("select from pg_roles where rolname = %s", [role]).fetchone()
        verb = SQL("create" if found is None else "alter")
        connection.execute(
            SQL(
                "{} role {} login nosuperuser nobypassrls nocreatedb nocreaterole password {}"
            ).format(verb, Identifier(role), Literal(passwords[role]))
        )


def create_database(connection: Connection, name: str, *, template: str = "template1") -> None:
    """A database of the owner role that only our roles may enter."""
    found = connection.execute("select from pg_database where datname = %s", [name]).fetchone()
    if found is None:
        connection.execute(
            SQL("create database {} owner {} template {}").format(
                Identifier(name), Identifier(OWNER), Identifier(template)
            )
        )
    connection.execute(SQL("revoke all on database {} from public").format(Identifier(name)))
    connection.execute(
        SQL("grant connect, temporary on database {} to {}").format(
            Identifier(name), Identifier(APP)
        )
    )


def grant_inside(connection: Connection) -> None:
    """The vector extension and what the application role may do with future tables."""
    connection.execute(_GRANTS.format(owner=Identifier(OWNER), app=Identifier(APP)))
