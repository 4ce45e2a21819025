"""Restores a backup into a database of its own, and looks whether it is the installation again."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import psycopg
from django.core.management import call_command
from django.db import connections
from psycopg.sql import SQL, Identifier

from config.errors import RehearsalFailed
from knowledge.embedding.spaces import active_space
from knowledge.indexing.reconciling import reconcile_all
from scopes.probing import look_everywhere

SCRATCH: Final = "earmark_rehearsal"
# Everything that keeps organizations apart or history as it is, as one line each. A restored policy
# has fewer brackets than the one that was written, so brackets are left out.
_CATALOGUE: Final = """
SELECT 'policy ' || tablename || ' ' || policyname || ' ' || permissive || translate(concat(qual, with_check), '() ', '')
  FROM pg_policies WHERE schemaname = 'public'
UNION ALL SELECT 'row security ' || relname FROM pg_class WHERE relrowsecurity AND relnamespace = 'public'::regnamespace
UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) || convalidated
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT 'index ' || pg_get_indexdef(i.indexrelid) || i.indisvalid
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = 'public'::regnamespace
UNION ALL SELECT 'trigger ' || pg_get_triggerdef(t.oid)
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace
UNION ALL SELECT 'function ' || proname || ' ' || md5(prosrc) || prosecdef
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prolang <> (SELECT oid FROM pg_language WHERE lanname = 'c')
UNION ALL SELECT 'owner ' || relname || ' ' || pg_get_userbyid(relowner) || ' ' || coalesce(relacl::text, '')
  FROM pg_class WHERE relkind IN ('r', 'p', 'S') AND relnamespace = 'public'::regnamespace
"""
_TABLES: Final = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
Tell = Callable[[str], object]


@dataclass
class Rehearsal:
    """What came of it.

    Units: seconds of the restore alone.
    """

    seconds: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def rehearse(backup: Path, *, database: str, at: datetime) -> Rehearsal:
    """Restore, compare with the database that was backed up, look for leaks, and drop it again.

    Connects as the PG… variables of the environment say, to the server that `database` is on: a
    role that may create databases and is above row level security.
    Raises: RehearsalFailed when the backup cannot be restored at all
    """
    done = Rehearsal()
    with _scratch():
        done.seconds = _restore(backup)
        done.rows, now = _counts(SCRATCH), _counts(database)
        done.changed = {name: count - done.rows.get(name, 0) for name, count in now.items()}
        done.faults += _differences(database)
        with _served_from(SCRATCH):
            done.faults += _unsound(at)
    return done


@contextmanager
def _scratch() -> Iterator[None]:
    _execute("DROP DATABASE IF EXISTS {} WITH (FORCE)")
    _execute("CREATE DATABASE {} TEMPLATE template0")
    try:
        yield
    finally:
        _execute("DROP DATABASE IF EXISTS {} WITH (FORCE)")


def _execute(statement: str) -> None:
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        connection.execute(SQL(statement).format(Identifier(SCRATCH)))


def _restore(backup: Path) -> float:
    began = time.monotonic()
    done = subprocess.run(  # noqa: S603 - a constant and the file that was named
        ["pg_restore", "--exit-on-error", f"--dbname={SCRATCH}", str(backup)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RehearsalFailed(f"pg_restore: {done.stderr.strip()[-500:]}")
    return time.monotonic() - began


def _counts(database: str) -> dict[str, int]:
    with psycopg.connect(dbname=database) as connection:
        names = [name for (name,) in connection.execute(_TABLES).fetchall()]
        counts: dict[str, int] = {}
        for name in sorted(names):
            row = connection.execute(
                SQL("SELECT count(*) FROM {}").format(Identifier(name))
            ).fetchone()
            counts[name] = row[0] if row else 0
        return counts


def _differences(database: str) -> list[str]:
    here, there = (_catalogue(name) for name in (database, SCRATCH))
    lost = [f"not in the backup: {line}" for line in sorted(here - there)]
    return lost + [f"only in the backup: {line}" for line in sorted(there - here)]


def _catalogue(database: str) -> set[str]:
    with psycopg.connect(dbname=database) as connection:
        return {line for (line,) in connection.execute(_CATALOGUE).fetchall()}


@contextmanager
def _served_from(database: str) -> Iterator[None]:
    before = {alias: connections[alias].settings_dict["NAME"] for alias in connections}
    for alias in connections:
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = database
    try:
        yield
    finally:
        for alias, name in before.items():
            connections[alias].close()
            connections[alias].settings_dict["NAME"] = name


def _unsound(at: datetime) -> list[str]:
    """Use it as the product does, as the application role."""
    faults: list[str] = []
    try:
        call_command("migrate", check=True, verbosity=0)
    except SystemExit:
        faults.append("migrations of this release are not applied")
    space = active_space()
    if space is not None:
        found = reconcile_all(space=space, at=at)
        faults += [
            f"{slug}: {one.total} differences of the index"
            for slug, one in found.items()
            if one.total
        ]
    for slug, look in look_everywhere(at).items():
        faults += [f"{slug}: {line}" for line in look.faults]
    return faults
