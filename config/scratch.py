"""Databases for measuring, on the server of the tests: migrated once, copied, kept until dropped."""

from __future__ import annotations

import hashlib
from typing import Final

import psycopg
from django.core.management import call_command
from django.db import connections
from psycopg.sql import SQL, Identifier, Literal

from config.embedded import Server, ensure_running
from config.private import ROOT, locked
from config.provision import SUPERUSER, create_database, grant_inside

_TEMPLATE: Final = "measuring_template_"


def scratch_database(name: str) -> None:
    """Make the database unless it is there: an empty one of today's schema."""
    server = ensure_running("test")
    with locked("scratch-databases"), superuser(server=server) as connection:
        if name not in _names(connection, name):
            create_database(connection, name, template=_migrated_template(connection, server))


def superuser(database: str = "postgres", *, server: Server | None = None) -> psycopg.Connection:
    """A connection past row level security, for loading, vacuuming and dropping."""
    server = server or ensure_running("test")
    return psycopg.connect(server.url(SUPERUSER, database), autocommit=True)


def address(database: str, role: str) -> str:
    """The address of a database of this server for `role`."""
    return ensure_running("test").url(role, database)


def point_at(name: str) -> None:
    """Let every alias of this process open that database from now on."""
    for alias in connections:
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = name


def scratch_databases(prefix: str) -> list[str]:
    """The databases whose name begins so."""
    with superuser() as connection:
        return _names(connection, prefix)


def drop(*names: str) -> None:
    """Drop databases, whoever uses them."""
    with superuser() as connection:
        for name in names:
            connection.execute(
                SQL("drop database if exists {} with (force)").format(Identifier(name))
            )


def note(name: str, text: str) -> None:
    """Write down what a database holds; a note is the last thing that filling it does."""
    with superuser() as connection:
        connection.execute(
            SQL("comment on database {} is {}").format(Identifier(name), Literal(text))
        )


def noted(name: str) -> str:
    """What was written down, or nothing."""
    with superuser() as connection:
        row = connection.execute(
            "select shobj_description(oid, 'pg_database') from pg_database where datname = %s",
            [name],
        ).fetchone()
    return (row and row[0]) or ""


def digest_of(*patterns: str) -> str:
    """One hash over files of the checkout, by name and content."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _migrated_template(connection: psycopg.Connection, server: Server) -> str:
    name = _TEMPLATE + digest_of(
        "*/migrations/*.py", "*/isolation.py", "config/provision.py", "requirements/server.txt"
    )
    existing = _names(connection, _TEMPLATE)
    if name not in existing:
        draft = "measuring_draft"
        for old in [*existing, draft]:
            connection.execute(
                SQL("drop database if exists {} with (force)").format(Identifier(old))
            )
        create_database(connection, draft)
        with superuser(draft, server=server) as inside:
            grant_inside(inside)
        point_at(draft)
        call_command("migrate", verbosity=0)
        connections.close_all()
        connection.execute(
            SQL("alter database {} rename to {}").format(Identifier(draft), Identifier(name))
        )
    return name


def _names(connection: psycopg.Connection, prefix: str) -> list[str]:
    rows = connection.execute("select datname from pg_database order by 1").fetchall()
    return [name for (name,) in rows if name.startswith(prefix)]
