"""The product's own processes, on a database that was made to measure."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

from bench.data import DIMENSIONS
from config.private import ROOT
from config.provision import APP
from config.scratch import address

PATIENCE_S = 60.0


@contextmanager
def drain(database: str, embedding: dict[str, str]) -> Iterator[None]:
    """Let the process that indexes work on that database for a block."""
    command = [sys.executable, "manage.py", "index", "drain"]
    with _process(command, _environment(database) | embedding):
        yield


@contextmanager
def instant_embedder() -> Iterator[dict[str, str]]:
    """Run the embedding service that answers at once; yield what has to be said to use it."""
    port = _free_port()
    with _process([sys.executable, "-m", "bench.instant", str(port)], dict(os.environ)):
        _wait_for(port)
        yield {
            "EARMARK_EMBEDDING_MODEL": "bench",
            "EARMARK_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
        }


@contextmanager
def _process(command: Sequence[str], environment: dict[str, str]) -> Iterator[None]:
    running = subprocess.Popen(  # noqa: S603 - our own interpreter and modules
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        running.terminate()
        running.wait(PATIENCE_S)


def _environment(database: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "DATABASE_URL": _url(database),
        "EARMARK_LOG_LEVEL": "ERROR",
    }


def _url(database: str) -> str:
    """Return the address with the socket's folder where a URL has room for it."""
    parts = conninfo_to_dict(address(database, APP))
    user, password, folder = (
        quote(str(parts.get(name, "")), safe="") for name in ("user", "password", "host")
    )
    return f"postgresql://{user}:{password}@/{database}?host={folder}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError
