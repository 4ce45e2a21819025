from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tomllib
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.db import connections
from django.utils import timezone

from config.moving.tables import moved_models
from config.private import ROOT
from config.provision import SUPERUSER
from knowledge.retrieval.pipeline import retrieve
from scopes.resolution import allowlist_for
from tenants.isolation import organization_context
from tenants.keys import issue_key
from tenants.models import Organization
from tests.guides import guide
from tests.planting import asked
from tests.processes import eventually, free_port
from tests.servers import PASSWORD, OwnServer, own_server
from tests.world import BY, world

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
OWN, SECRET = (f"ORG{number}-SECRET-{uuid.uuid4()}" for number in (0, 1))
SHIMS = {
    "python": 'exec {python} "$@"',
    # As installed: started with -m it could not start itself again, with its own folder on the path.
    "gunicorn": 'exec {programs}/gunicorn "$@"',
    # The worker's own packages are not installed here, and its preflight needs none of them.
    "earmark-worker": 'PYTHONPATH={folder}:{root}/worker/src exec {python} -c "$PREFLIGHT" "$@"',
}


PREFLIGHT = """
import asyncio, sys
from earmark_worker.client import VoiceClient
from earmark_worker.errors import WorkerError
from earmark_worker.preflight import preflight

async def ask():
    async with VoiceClient(sys.argv[3], key="") as client:
        print(await preflight(client))

assert sys.argv[1:3] == ["preflight", "--url"]
try:
    asyncio.run(ask())
except WorkerError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def server(django_db_setup, django_db_blocker) -> Iterator[OwnServer]:
    with django_db_blocker.unblock(), own_server() as server:
        yield server


class Desk:
    """A shell as the guides expect it: the product, PostgreSQL's programs, an address for each role."""

    def __init__(self, server: OwnServer, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.port = free_port()
        programs = folder / "bin"
        programs.mkdir()
        for name, line in SHIMS.items():
            text = line.format(
                python=sys.executable,
                root=ROOT,
                folder=folder,
                programs=Path(sys.executable).parent,
            )
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)
        self._install_the_worker()
        self.environment = {
            "HOME": str(folder),
            "PATH": f"{programs}:{server.place.binaries}/bin:{os.environ['PATH']}",
            "PGHOST": str(server.place.sockets), "PGUSER": SUPERUSER, "PGPASSWORD": PASSWORD,
            "DATABASE_URL": server.server.app_url, "DATABASE_OWNER_URL": server.server.owner_url,
            "DJANGO_SETTINGS_MODULE": "config.settings.dev", "EARMARK_WEB_WORKERS": "1",
            "PREFLIGHT": PREFLIGHT,
            "SECRET_KEY": "only-for-this-test-" * 4, "PYTHONPATH": str(ROOT),
        }  # fmt: skip

    def _install_the_worker(self) -> None:
        """Leave what an installation leaves of its version, for preflight asks for it."""
        project = tomllib.loads((ROOT / "worker/pyproject.toml").read_text())["project"]
        about = self.folder / f"earmark_worker-{project['version']}.dist-info"
        about.mkdir()
        named = f"Name: {project['name']}\nVersion: {project['version']}\n"
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\n{named}")

    def run(self, name: str) -> str:
        """Run a guide's commands in the folder, each of which has to succeed."""
        done = self.attempt(name)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def attempt(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run them until one fails."""
        text = guide(name).replace("8000", str(self.port))
        text = text.replace("manage.py", str(ROOT / "manage.py"))
        return self.call("bash", "-euo", "pipefail", "-c", text)

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.call("python", str(ROOT / "manage.py"), *words)

    @property
    def pid(self) -> int:
        return int((self.folder / "gunicorn.pid").read_text())

    def answers(self) -> bool:
        """Whether the server does, whichever that is."""
        with urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=30) as answer:
            status: int = answer.status
        return status == 200

    def stop_the_server(self) -> None:
        if (self.folder / "gunicorn.pid").exists():
            os.kill(self.pid, signal.SIGTERM)
            eventually(lambda: not (self.folder / "gunicorn.pid").exists())

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture
def desk(server, tmp_path) -> Iterator[Desk]:
    made = Desk(server, tmp_path)
    yield made
    made.stop_the_server()


def told() -> list[tuple[str, str]]:
    """What an agent of acme is told, by words; ids and passages."""
    organization = Organization.objects.get(slug="acme")
    with organization_context(organization.pk):
        agent = organization.phoneagent_set.get(slug="receptionist")
        allowlist = allowlist_for(
            agent, contact=None, channel="phone", country=None, at=timezone.now()
        )
        answer = retrieve(asked(organization.pk, "pelican lounge", None), allowlist, limit=5)
    return [(result.id, result.content) for result in answer.results]


def counts() -> dict[str, int]:
    """Rows of every table of truth, as the owner sees them."""
    with connections["owner"].cursor() as cursor:
        found = {}
        for table in (model._meta.db_table for model in moved_models()):
            cursor.execute(f"SELECT count(*) FROM {table}")
            found[table] = cursor.fetchone()[0]
    return found


@pytest.fixture
def acme(server):
    here = world()
    here.acme.item(
        "Opening hours", f"The pelican lounge opens at seven. {OWN}", folder="public/hours"
    )
    here.globex.item("Opening hours", f"The pelican lounge of globex opens at nine. {SECRET}")
    here.acme.contact("crm-77")
    issue_key([here.acme.organization], label="runtime", by=BY, at=timezone.now())
    return here


def test_f13_every_guide_runs_as_it_is_written(desk, acme, server, figures):
    before = told()
    assert before
    assert "acme:" in desk.run("deploy")
    _is_upgraded(desk)
    counted = counts()
    output = desk.run("backup")
    assert "Policies, keys, indexes and triggers are the same; nothing leaks." in output
    desk.stop_the_server()
    with server.elsewhere():
        assert desk.call("dropdb", "--force", "earmark").returncode == 0
    began = time.monotonic()
    desk.run("restore")
    seconds = round(time.monotonic() - began, 1)
    assert told() == before
    now = counts()
    lost = sum(max(0, count - now[name]) for name, count in counted.items())
    assert lost == 0
    _keys_are_rotated(desk)
    assert "acme:" in desk.run("retention")
    _rehearsals_find_out(desk)
    moved = _moves_out_and_in(desk)
    assert told() == before
    leaks = [text for text in (repr(before), repr(told()), moved) if SECRET in text]
    figures(
        "F13, backup, rehearsal, restore and moving", restored_s=seconds,
        tables=len(counted), rows=sum(counted.values()), lost=lost,
        leaks=len(leaks),
    )  # fmt: skip
    assert leaks == []
    assert OWN in repr(before)
    assert OWN in moved


def _moves_out_and_in(desk) -> str:
    """Return what lay in the file meanwhile."""
    desk.run("move-out")
    with zipfile.ZipFile(desk.folder / "acme.zip") as file:
        moved = b"".join(file.read(name) for name in file.namelist()).decode()
    desk.run("move-remove")
    assert not Organization.objects.filter(slug="acme").exists()
    desk.run("move-in")
    return moved


def _is_upgraded(desk):
    """A new server answers, and one that cannot start leaves the old one there."""
    first = desk.pid
    assert "acme:" in desk.run("upgrade")
    second = desk.pid
    assert second != first
    assert _has_ended(first)
    assert desk.answers()
    right, desk.environment = desk.environment, desk.environment | {"EARMARK_WEB_WORKERS": "0"}
    assert desk.attempt("upgrade").returncode == 1
    desk.environment = right
    assert desk.pid == second
    assert desk.answers()


def _has_ended(pid: int) -> bool:
    """Whether a process is gone, or waits only for somebody to take note of that."""
    asked = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return asked.stdout.decode().strip()[:1] in {"", "Z"}


def _keys_are_rotated(desk):
    desk.run("rotate")
    listed = desk.manage("service_keys", "list", "--organization", "acme").stdout
    states = [line.split("\t")[1].split()[0] for line in listed.splitlines()]
    assert sorted(states) == ["active", "revoked"]
    assert "." in (desk.folder / "token").read_text()


def _rehearsals_find_out(desk):
    """A backup that lacks a policy, and one of which half is there."""
    wide = "CREATE POLICY wide ON knowledge_item USING (true)"
    assert desk.call("psql", "-qc", wide, "earmark").returncode == 0
    done = desk.manage("rehearse_restore", "earmark.dump")
    assert done.returncode == 1
    assert "policy knowledge_item wide" in done.stdout
    assert desk.call("psql", "-qc", "DROP POLICY wide ON knowledge_item", "earmark").returncode == 0
    kept = desk.folder / "earmark.dump"
    kept.write_bytes(kept.read_bytes()[: kept.stat().st_size // 2])
    done = desk.manage("rehearse_restore", "earmark.dump")
    assert done.returncode == 1
    assert "pg_restore" in done.stderr
