"""Real processes of the product beside a test: drains, Celery workers, a Redis; all against its database."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from django.db import connections

from config.private import ROOT
from tests.openai_server import DIMENSIONS

PATIENCE_S = 60.0


class Process:
    """One process in a group of its own, with its output in a file."""

    def __init__(self, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        self.output = Path(tempfile.mkstemp(suffix=".log")[1])
        with self.output.open("wb") as log:
            self._popen = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    @property
    def code(self) -> int | None:
        return self._popen.poll()

    def wait(self, within_s: float = PATIENCE_S) -> int:
        """Return its code once it has ended by itself."""
        return self._popen.wait(within_s)

    def kill(self) -> None:
        """What a power cut does: no handler, no clean-up, the whole group."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """What a deployment does."""
        self._popen.terminate()
        return self._popen.wait(PATIENCE_S)

    def send(self, number: int) -> None:
        os.killpg(self.pid, number)

    def lines(self) -> list[str]:
        return self.output.read_text(errors="replace").splitlines()

    def close(self) -> None:
        self._end(signal.SIGKILL)
        self.output.unlink(missing_ok=True)

    def _end(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)
        self._popen.wait(PATIENCE_S)


def product_environment(embedding_url: str, **more: str) -> dict[str, str]:
    """What the product's processes see: this test's database and its embedding server."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "DATABASE_URL": _database_url(),
        "EARMARK_EMBEDDING_MODEL": "tests",
        "EARMARK_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
        "OPENAI_BASE_URL": embedding_url,
        "OPENAI_API_KEY": "none",
        **more,
    }


def _database_url() -> str:
    there = connections["default"].settings_dict
    user, password = there["USER"], quote(there["PASSWORD"], safe="")
    return f"postgresql://{user}:{password}@/{there['NAME']}?host={quote(there['HOST'], safe='')}"


@contextmanager
def running(*processes: Process) -> Iterator[None]:
    """Let processes run for a block; afterwards nothing of them is left."""
    try:
        yield
    finally:
        for process in processes:
            process.close()


def drain(embedding_url: str) -> Process:
    return Process(
        [sys.executable, "manage.py", "index", "drain"], product_environment(embedding_url)
    )


def worker(embedding_url: str, redis_url: str, *, concurrency: int = 2) -> Process:
    return Process(
        [
            sys.executable, "-m", "celery", "-A", "config.celery", "worker",
            f"--concurrency={concurrency}", "--loglevel=INFO", "--without-mingle", "--without-gossip",
        ],
        product_environment(embedding_url, REDIS_URL=redis_url),
    )  # fmt: skip


def web(embedding_url: str, port: int, **more: str) -> Process:
    """The web server of production; wait for /healthz."""
    return Process(
        [sys.executable, "-m", "gunicorn", "-c", "python:config.webserver",
         "--bind", f"127.0.0.1:{port}", "config.wsgi"],
        product_environment(embedding_url, PYTHONPATH=str(ROOT), **more),
    )  # fmt: skip


def beat(embedding_url: str, redis_url: str) -> Process:
    schedule = tempfile.mkdtemp() + "/schedule"
    return Process(
        [sys.executable, "-m", "celery", "-A", "config.celery", "beat", f"--schedule={schedule}",
         "--pidfile="],
        product_environment(embedding_url, REDIS_URL=redis_url),
    )  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def redis(port: int) -> Process:
    """A Redis that keeps nothing on disk."""
    process = Process(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
         "--appendonly", "no", "--dir", tempfile.gettempdir()]
    )  # fmt: skip
    eventually(lambda: _answers(port))
    return process


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def eventually(holds: Callable[[], object], *, within_s: float = PATIENCE_S) -> None:
    """Wait until something holds."""
    ends = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < ends, "It never came to hold."
        time.sleep(0.05)
