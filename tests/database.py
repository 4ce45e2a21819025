"""A fresh database for each test process, copied from one that was migrated once."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from django.core.management import call_command
from django.db import connections
from psycopg.sql import SQL, Identifier

from config.embedded import Server, ensure_running
from config.private import ROOT, locked
from config.provision import APP, OWNER, SUPERUSER, create_database, grant_inside

_TEMPLATE: Final = "template_"
_CLEARABLE: Final = SQL(
    "alter default privileges for role {owner} in schema public grant truncate on tables to {app}"
).format(owner=Identifier(OWNER), app=Identifier(APP))
# Tests that plant rows past every verb also go past the foreign keys' triggers.
_PLANTING: Final = SQL("grant set on parameter session_replication_role to {app}").format(
    app=Identifier(APP)
)


@contextmanager
def fresh_database(worker: str) -> Iterator[None]:
    """Point every alias at a new database; `default` is the application role, as in production."""
    server = ensure_running("test")
    name = f"test_{os.getpid()}_{worker}"
    with locked("test-databases"), _superuser(server) as connection:
        connection.execute(_PLANTING)
        template = _migrated_template(connection, server)
        _drop(connection, *_left_behind(connection))
        create_database(connection, name, template=template)
    _point_at(name)
    yield
    connections.close_all()
    with _superuser(server) as connection:
        _drop(connection, name)


def _superuser(server: Server, database: str = "postgres") -> psycopg.Connection:
    return psycopg.connect(server.url(SUPERUSER, database), autocommit=True)


def _point_at(name: str) -> None:
    for alias in connections:
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = name


def _migrated_template(connection: psycopg.Connection, server: Server) -> str:
    name = _TEMPLATE + _fingerprint()
    existing = _names(connection, _TEMPLATE)
    if name not in existing:
        _drop(connection, *existing)
        draft = f"draft_{os.getpid()}"
        create_database(connection, draft)
        with _superuser(server, draft) as inside:
            grant_inside(inside)
            inside.execute(_CLEARABLE)
        _point_at(draft)
        call_command("migrate", verbosity=0)
        connections.close_all()
        connection.execute(
            SQL("alter database {} rename to {}").format(Identifier(draft), Identifier(name))
        )
    return name


def _fingerprint() -> str:
    digest = hashlib.sha256()
    files = [*ROOT.glob("*/migrations/*.py"), *ROOT.glob("*/isolation.py")]
    for path in sorted([*files, ROOT / "config/provision.py", ROOT / "requirements/server.txt"]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _names(connection: psycopg.Connection, prefix: str) -> list[str]:
    rows = connection.execute("select datname from pg_database").fetchall()
    return [name for (name,) in rows if name.startswith(prefix)]


def _left_behind(connection: psycopg.Connection) -> list[str]:
    found = [re.fullmatch(r"(?:test|draft)_(\d+)(_\w+)?", name) for name in _names(connection, "")]
    return [match[0] for match in found if match and not _alive(int(match[1]))]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _drop(connection: psycopg.Connection, *names: str) -> None:
    for name in names:
        connection.execute(SQL("drop database if exists {} with (force)").format(Identifier(name)))
