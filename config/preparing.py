"""What must be true of the database before `make run` serves: migrated, with something to look at."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command, get_commands
from django.db import OperationalError, connections
from django.db.migrations.executor import MigrationExecutor

Say = Callable[[str], None]
_KEPT: Final = frozenset(
    {"admin_user", "admin_password", "service_key", "organization", "agents", "contacts"}
)


def migrate(say: Say) -> None:
    """Apply what is missing as the owner of the tables.

    Raises: ImproperlyConfigured when something is missing and no owner is known.
    """
    alias = "owner" if "owner" in connections else "default"
    try:
        executor = MigrationExecutor(connections[alias])
    except OperationalError as error:
        raise ImproperlyConfigured("The database does not answer: check DATABASE_URL.") from error
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if pending and alias != "owner":
        raise ImproperlyConfigured(
            f"{len(pending)} migrations are missing: set DATABASE_OWNER_URL to apply them."
        )
    if pending:
        say(f"Applying {len(pending)} migrations ...")
        call_command("migrate", verbosity=0, interactive=False)
    connections.close_all()


def load_demo(known: dict[str, Any], say: Say) -> dict[str, Any]:
    """What the demo made: from the last run, else by making it now."""
    kept = {key: value for key, value in known.items() if key in _KEPT}
    if "service_key" in kept or "demo" not in get_commands():
        return kept
    say("Loading the demo organization ...")
    output = StringIO()
    call_command("demo", stdout=output)
    connections.close_all()
    made: dict[str, Any] = json.loads(output.getvalue())
    return made
