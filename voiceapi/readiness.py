"""Whether this server can answer searches: checked before workers roll."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.db import Error as DatabaseTrouble
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from knowledge.embedding.selection import current_embedder
from knowledge.embedding.spaces import active_space, space_key
from knowledge.errors import KnowledgeError
from knowledge.passages import CHUNKER_VERSION
from tenants.patience import patient_for
from tenants.writable import require_writable
from voiceapi.contract import VERSION, is_served
from voiceapi.errors import NotReady

CHECKS: Final = ("contract", "database", "migrations", "embedding")
# Whoever asks has a time-out of its own, and a thread that waits for the database answers nobody.
_PATIENCE: Final = "SET LOCAL statement_timeout = '2s'; SET LOCAL lock_timeout = '2s'"
_PATIENCE_S: Final = 2.5
_migrated: set[str] = set()


def require_ready(version: str | None) -> None:
    """Refuse unless everything that a search needs is in place.

    Raises: NotReady, naming every check that fails
    """
    failures: dict[str, list[str]] = {}
    if not is_served(version if version is not None else str(VERSION)):
        failures["contract"] = ["The contract version asked for is not served here."]
    failures |= _of_the_database()
    if failures:
        raise NotReady(fields=failures)


def _of_the_database() -> dict[str, list[str]]:
    checks: dict[str, tuple[Callable[[], bool], str]] = {
        "migrations": (_is_migrated, "Some migrations are not applied."),
        "embedding": (_has_space, "The embedding space in use is not activated."),
    }
    try:
        with patient_for(_PATIENCE_S), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_PATIENCE)
            require_writable(cursor)
            return {name: [why] for name, (holds, why) in checks.items() if not holds()}
    except DatabaseTrouble:
        return {"database": ["The database does not answer, or takes no writes."]}


def _is_migrated() -> bool:
    # Reading every migration file is slow and the answer never turns back while this code runs.
    name = str(connection.settings_dict["NAME"])
    if name not in _migrated:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return False
        _migrated.add(name)
    return True


def _has_space() -> bool:
    try:
        key = space_key(current_embedder().space, CHUNKER_VERSION)
    except KnowledgeError:
        return False
    active = active_space()
    return active is not None and active.key == key
