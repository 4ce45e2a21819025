"""The servers that a load is put on: ours as in production, the embedding stub, and Hayhooks."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from django.utils import timezone

from bench.data import DIMENSIONS
from bench.loading import Loaded
from config.private import ROOT
from config.provision import APP, OWNER
from config.scratch import address
from config.variables import VARIABLES
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.keys import issue_key, revoke_key
from tenants.models import Organization, ServiceKeyBinding

USUAL: Final = "2x16x8"
VOICE: Final = "/internal/voice/v1"
_BY: Final = Actor.process("bench")
_STARTS_WITHIN_S: Final = 300
# The most that a rate can be: each request is counted in the database, and none is refused.
_RATE: Final = "1000000"
_RATES: Final = ("EARMARK_SESSION_RATE", "EARMARK_KEY_RATE", "EARMARK_ORGANIZATION_RATE")
# Nothing that it signs is kept.
_SECRET: Final = secrets.token_urlsafe(64)


@dataclass(frozen=True)
class Target:
    """Where clients ask, in turns, and what: the words are put into `body[words]`, new ones each time."""

    ports: tuple[int, ...]
    paths: tuple[str, ...]
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None = None
    words: str = "queries"
    ok: int = 200


def key_for(corpus: Loaded) -> tuple[str, str]:
    """Return a new service key and the name of the organization that holds the corpus."""
    organization = Organization.objects.get(pk=corpus.organizations[0])
    with organization_context(organization.pk):
        bindings = ServiceKeyBinding.objects.select_related("key").filter(is_active=True)
        old = [binding.key for binding in bindings]
    now = timezone.now()  # noqa: TID251 - a command
    for key in old:
        revoke_key(key, by=_BY, at=now)
    issued = issue_key([organization], label="bench", by=_BY, at=now)
    return issued.token, organization.slug


def headers_with(token: str) -> dict[str, str]:
    """Return what a voice runtime sends, and what the proxy in front of the server adds."""
    return {
        "Authorization": f"Bearer {token}",
        "X-Earmark-Contract": "1",
        "Content-Type": "application/json",
        "X-Forwarded-For": "127.0.0.1",
        "X-Forwarded-Proto": "https",
    }


@contextmanager
def embedder() -> Iterator[int]:
    """Run the stub; yields its port."""
    port = free_port()
    with _running([sys.executable, "-m", "bench.stub", str(port)], os.environ, port):
        yield port


@contextmanager
def earmark(
    database: str, embedder_port: int, log: Path, configuration: str = USUAL
) -> Iterator[int]:
    """Run the production web server: processes x threads x shared connections; yields its port."""
    processes, threads, connections = configuration.split("x")
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-c", "python:config.webserver"]
    command += ["-b", f"127.0.0.1:{port}", "config.wsgi"]
    with tempfile.TemporaryDirectory() as metrics:
        environment = environment_for(database, embedder_port) | {
            "EARMARK_WEB_WORKERS": processes,
            "EARMARK_WEB_THREADS": threads,
            "EARMARK_WEB_CONNECTIONS": connections,
            "PROMETHEUS_MULTIPROC_DIR": metrics,
        }
        with _running(command, environment, port, log):
            yield port


def environment_for(database: str, embedder_port: int) -> dict[str, str]:
    """Return the environment in which our processes serve that database through the stub.

    Of production, with what compose.yaml says and every default, but for rates that refuse nothing.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name.removesuffix("_FILE") not in VARIABLES
    }
    return inherited | {
        "DJANGO_SETTINGS_MODULE": "config.settings.prod",
        "ALLOWED_HOSTS": "127.0.0.1",
        "SECRET_KEY": _SECRET,
        "DATABASE_URL": _url(database, APP),
        "EARMARK_EMBEDDING_MODEL": "bench",
        "EARMARK_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
        "EARMARK_TRUSTED_PROXIES": "1",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{embedder_port}/v1",
        **dict.fromkeys(_RATES, _RATE),
    }


@contextmanager
def hayhooks(
    database: str, embedder_port: int, filters: Mapping[str, dict[str, Any]]
) -> Iterator[int]:
    """Serve the same search as a pipeline of Haystack; the scopes are its filters, by name."""
    port = free_port()
    folder = Path(__file__).parent / "pipelines"
    command = [str(Path(sys.executable).parent / "hayhooks"), "run", "--port", str(port)]
    command += ["--host", "127.0.0.1", "--pipelines-dir", str(folder)]
    command += ["--without-monitoring", "--without-tracing"]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "BENCH_DATABASE": address(database, OWNER),
        "BENCH_EMBEDDER": f"http://127.0.0.1:{embedder_port}/v1",
        "BENCH_FILTERS": json.dumps(filters),
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "OPENAI_API_KEY": "none",
    }
    with _running(command, environment, port):
        _until_deployed(port)
        yield port


def sessions(port: int, token: str, body: Mapping[str, str], count: int) -> list[str]:
    """Open calls."""
    opened = []
    for _ in range(count):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", f"{VOICE}/sessions", json.dumps(dict(body)), headers_with(token))
        opened.append(str(json.load(connection.getresponse())["session"]))
        connection.close()
    return opened


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _url(database: str, role: str) -> str:
    # The socket's folder goes where a URL has room for it.
    parts = psycopg.conninfo.conninfo_to_dict(address(database, role))
    password = parts.get("password", "")
    return f"postgresql://{parts['user']}:{password}@/{database}?host={parts['host']}"


@contextmanager
def _running(
    command: Sequence[str],
    environment: Mapping[str, str],
    port: int,
    log: Path = Path(os.devnull),
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("ab") as written:
        process = subprocess.Popen(  # noqa: S603
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=written
        )
    try:
        _until(lambda: _listens(port), process)
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _until_deployed(port: int) -> None:
    def answers() -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/status/search")
        return connection.getresponse().status == 200

    _until(answers)


def _until(done: Any, process: subprocess.Popen[bytes] | None = None) -> None:
    give_up = time.monotonic() + _STARTS_WITHIN_S
    while not done():
        if time.monotonic() > give_up or (process and process.poll() is not None):
            raise TimeoutError
        time.sleep(0.1)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
