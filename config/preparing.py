"""What must be true of the database before `make run` serves: migrated, with something to look at."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import OperationalError, connections
from django.db.migrations.executor import MigrationExecutor

from config.errors import StartError
from config.private import ROOT

Say = Callable[[str], None]
_KEPT: Final = (
    "admin_user", "admin_password", "service_key", "organization", "agents", "contacts"
)  # fmt: skip


def migrate(say: Say) -> None:
    """Apply what is missing as the owner of the tables.

    Raises: ImproperlyConfigured when something is missing and no owner is known, or for an
            application role that row level security does not bind.
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
    # The first connection refuses an unsafe role, better here than in each process.
    connections["default"].ensure_connection()
    connections.close_all()


def load_demo(known: dict[str, Any], say: Say) -> dict[str, Any]:
    """What the demo made: from the last run while its key still works, else by making it now.

    Raises: StartError.
    """
    if _opens_this_database(known.get("service_key", "")):
        return {key: known[key] for key in _KEPT if key in known}
    say("Loading the demo organization ...")
    done = subprocess.run(  # noqa: S603
        [sys.executable, f"{ROOT}/manage.py", "demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise StartError(f"The demo could not be loaded:\n{done.stderr[-2000:]}")
    made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return made


def _opens_this_database(token: str) -> bool:
    # Models can be loaded only once Django is set up.
    from tenants.keys import KeyRefused, verify_key

    try:
        verify_key(token.encode(), at=datetime.now(tz=UTC))  # noqa: TID251 - this is a door
    except KeyRefused:
        return False
    finally:
        connections.close_all()
    return True
