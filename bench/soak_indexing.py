"""Who indexes during a soak, the index process or Celery with Redis, and whether canaries stayed unheard."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg

from bench.serving import free_port
from config.private import ROOT
from scopes.selecting import create_scopes
from tenants.isolation import organization_context
from tenants.models import Organization, PhoneAgent

_CELERY: Final = [sys.executable, "-m", "celery", "-A", "config.celery"]
_LOOKS: Final = """
SELECT count(*), sum(jsonb_array_length(leaks)), sum(jsonb_array_length(missed)),
       count(*) FILTER (WHERE dense_at IS DISTINCT FROM at), sum(lexical_searches), sum(dense_searches)
  FROM scopes_canarylook
"""


@contextmanager
def indexing(mode: str, environment: Mapping[str, str], log: Path) -> Iterator[dict[str, str]]:
    """Keep the index up to date beside the block; return the environment of whoever saves."""
    with ExitStack() as stack:
        if mode == "drain":
            stack.enter_context(
                beside([sys.executable, "manage.py", "index", "drain"], environment, log)
            )
            yield dict(environment)
            return
        port, folder = free_port(), stack.enter_context(tempfile.TemporaryDirectory())
        server = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
        stack.enter_context(beside([*server, "--dir", folder], environment, log))
        told = {**environment, "REDIS_URL": f"redis://127.0.0.1:{port}/0"}
        schedule = [f"--schedule={Path(folder) / 'schedule'}", "--pidfile="]
        stack.enter_context(beside([*_CELERY, "worker", "--concurrency=2"], told, log))
        stack.enter_context(beside([*_CELERY, "beat", *schedule], told, log))
        # The schedule compares every ten minutes for the first time after ten.
        command = [sys.executable, "manage.py", "index", "reconcile"]
        with log.open("ab") as written:
            subprocess.run(  # noqa: S603
                command, cwd=ROOT, env=told, stdout=subprocess.DEVNULL, stderr=written, check=True
            )
        yield told


@contextmanager
def beside(command: list[str], environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """Run a process for a block."""
    with log.open("ab") as written:
        process = subprocess.Popen(  # noqa: S603
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=written
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def neighbour() -> None:
    """Make a second organization with an agent: the probe for canaries searches as it, too."""
    made = Organization.objects.create(slug="soak-neighbour", name="Neighbour")
    with organization_context(made.pk):
        create_scopes(PhoneAgent.objects.create(organization=made, slug="desk", name="Desk"))


def looks(connection: psycopg.Connection) -> dict[str, Any]:
    """Return what the newest looks for canaries came to: sound only when nothing leaked and all was asked."""
    row = connection.execute(_LOOKS).fetchone() or (0, 0, 0, 0, 0, 0)
    names = ("organizations", "leaks", "missed", "not_probed", "by_words", "by_vectors")
    found = dict(zip(names, (int(value or 0) for value in row), strict=True))
    faults = found["leaks"] + found["missed"] + found["not_probed"]
    return found | {"sound": found["organizations"] > 1 and not faults}
