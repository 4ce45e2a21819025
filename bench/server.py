"""`python -m bench.server`: the production web server under load, by processes, threads and connections.

An embedder that takes 150 ms, 12,000 passages, the client on the same machine. Shortened by SECONDS,
CLIENTS and CONFIGURATIONS (processes x threads x shared connections, as 2x24x10).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evals.settings")

import django

django.setup()

import psycopg  # noqa: E402 - Django comes first
from django.utils import timezone  # noqa: E402

from bench.data import DIMENSIONS  # noqa: E402
from bench.loading import loaded  # noqa: E402
from config.private import ROOT  # noqa: E402
from config.provision import APP  # noqa: E402
from config.scratch import address, superuser  # noqa: E402
from knowledge.embedding.selection import embedder_from_settings  # noqa: E402
from knowledge.embedding.spaces import space_key  # noqa: E402
from knowledge.passages import CHUNKER_VERSION  # noqa: E402
from scopes.selecting import create_scopes  # noqa: E402
from tenants.auditing import Actor  # noqa: E402
from tenants.isolation import organization_context  # noqa: E402
from tenants.keys import issue_key, revoke_key  # noqa: E402
from tenants.models import Organization, PhoneAgent, ServiceKeyBinding  # noqa: E402

PASSAGES: Final = 12_000
CLIENTS: Final = tuple(map(int, os.environ.get("CLIENTS", "1,16,48,96").split(",")))
SECONDS: Final = int(os.environ.get("SECONDS", "8"))
CONFIGURATIONS: Final = os.environ.get("CONFIGURATIONS", "2x8x0,2x16x0,2x16x8,2x24x10").split(",")
WARM_UP_S: Final = 3
BY: Final = Actor.process("bench")
AGENT: Final = "bench"


def main() -> int:
    """Print throughput and latency of every configuration; 1 when something broke below saturation."""
    database, token, organization = _prepared()
    broken = 0
    embedder_port = _free_port()
    stub = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "bench.stub", str(embedder_port)], cwd=ROOT
    )
    print(f"{'configuration':>14} {'clients':>8} {'answers/s':>10} {'p50':>6} {'p95':>6} {'p99':>6}"
          f" {'refused':>8} {'p95':>6} {'other':>6}   (milliseconds)")  # fmt: skip
    try:
        for configuration in CONFIGURATIONS:
            with _server(configuration, database, embedder_port) as port:
                _load(port, token, organization, 4, seconds=WARM_UP_S)
                for clients in CLIENTS:
                    heard = _load(port, token, organization, clients)
                    _tell(configuration, clients, heard)
                    broken += heard["broken"] if clients <= 16 else 0
    finally:
        stub.terminate()
    return 1 if broken else 0


def _prepared() -> tuple[str, str, str]:
    """Return a database with an agent that may search everything, a key and the organization."""
    corpus = loaded(PASSAGES, organizations=1)
    organization = Organization.objects.get(pk=corpus.organizations[0])
    wanted = {"model": "bench", "dimensions": DIMENSIONS, "base_url": "http://127.0.0.1:9/v1"}
    key = space_key(embedder_from_settings(wanted).space, CHUNKER_VERSION)
    with superuser(corpus.database) as connection:
        connection.execute("UPDATE knowledge_embeddingspace SET key = %s", [key])
    with organization_context(organization.pk):
        agent, made = PhoneAgent.objects.get_or_create(
            organization=organization, slug=AGENT, name=AGENT
        )
        if made:
            create_scopes(agent)
        old = [
            b.key for b in ServiceKeyBinding.objects.select_related("key").filter(is_active=True)
        ]
    now = timezone.now()  # noqa: TID251 - a command
    for key_ in old:
        revoke_key(key_, by=BY, at=now)
    issued = issue_key([organization], label="bench", by=BY, at=now)
    return corpus.database, issued.token, organization.slug


@contextmanager
def _server(configuration: str, database: str, embedder_port: int) -> Iterator[int]:
    processes, threads, connections = configuration.split("x")
    port = _free_port()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "DATABASE_URL": _url(database),
        "EARMARK_EMBEDDING_MODEL": "bench",
        "EARMARK_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
        "OPENAI_BASE_URL": f"http://127.0.0.1:{embedder_port}/v1",
        "EARMARK_WEB_WORKERS": processes,
        "EARMARK_WEB_THREADS": threads,
        "EARMARK_WEB_CONNECTIONS": connections,
        **dict.fromkeys(
            ("EARMARK_SESSION_RATE", "EARMARK_KEY_RATE", "EARMARK_ORGANIZATION_RATE"), "0"
        ),
        "EARMARK_LOG_LEVEL": "ERROR",
    }
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "-c",
        "python:config.webserver",
        "-b",
        f"127.0.0.1:{port}",
        "config.wsgi",
    ]
    running = subprocess.Popen(  # noqa: S603
        command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(port)
        yield port
    finally:
        running.terminate()
        running.wait(20)


def _url(database: str) -> str:
    """Return the address with the socket's folder where a URL has room for it."""
    parts = psycopg.conninfo.conninfo_to_dict(address(database, APP))
    return (
        f"postgresql://{parts['user']}:{parts.get('password', '')}@/{database}?host={parts['host']}"
    )


def _load(
    port: int, token: str, organization: str, clients: int, *, seconds: int = SECONDS
) -> dict[str, Any]:
    headers = {
        "Authorization": f"Bearer {token}",
        "X-Earmark-Contract": "1",
        "Content-Type": "application/json",
    }
    body = {"organization": organization, "agent": AGENT}
    told = {
        "clients": clients, "seconds": seconds, "port": port, "headers": headers, "body": body,
        "paths": [f"/internal/voice/v1/sessions/{session}/tools/knowledge-search"
                  for session in _sessions(port, headers, body, min(clients, 8))],
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "bench.clients"], input=json.dumps(told), cwd=ROOT,
                          capture_output=True, text=True, check=True)  # fmt: skip
    heard: dict[str, Any] = json.loads(done.stdout)
    return heard


def _sessions(port: int, headers: dict[str, str], body: dict[str, str], count: int) -> list[str]:
    import http.client

    opened = []
    for _ in range(count):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/internal/voice/v1/sessions", json.dumps(body), headers)
        opened.append(json.load(connection.getresponse())["session"])
        connection.close()
    return opened


def _tell(configuration: str, clients: int, heard: dict[str, Any]) -> None:
    seconds = {int(status): sorted(times) for status, times in heard["seconds"].items()}
    answered, refused = seconds.pop(200, []), seconds.pop(503, [])
    other = heard["broken"] + sum(map(len, seconds.values()))
    middle, late, last = (_at(answered, share) for share in (0.5, 0.95, 0.99))
    print(f"{configuration:>14} {clients:>8} {len(answered) / SECONDS:>10.1f} {middle:>6} {late:>6} {last:>6}"
          f" {len(refused):>8} {_at(refused, 0.95):>6} {other:>6}", flush=True)  # fmt: skip


def _at(times: list[float], share: float) -> str:
    return f"{times[min(len(times) - 1, int(len(times) * share))] * 1000:.0f}" if times else "-"


def _wait_for(port: int) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
