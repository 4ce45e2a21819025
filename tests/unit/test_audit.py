"""The audit passes when all was asked and nothing known, or when there was no connection; else it fails."""

import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

import pytest

from config.private import ROOT
from tests.processes import free_port

audit: Any = ModuleType("audit")
SourceFileLoader("audit", str(ROOT / ".ci" / "audit")).exec_module(audit)
GOOD = {"name": "good", "version": "1", "vulns": []}
BAD = {"name": "bad", "version": "1", "vulns": [{"id": "CVE-1"}]}
SKIPPED = {"name": "odd", "skip_reason": "not found"}


def came(stdout="", stderr=""):
    return subprocess.CompletedProcess([], 1, stdout, stderr)


@pytest.mark.parametrize(
    ("packages", "passes"),
    [
        ([GOOD], True),
        ([GOOD, BAD], False),
        ([GOOD, SKIPPED], False),
        ([SKIPPED], False),
        ([], False),
    ],
)
def test_an_audit_passes_when_every_package_was_asked_and_none_is_known(packages, passes):
    assert audit.judged("a lock", came(json.dumps({"dependencies": packages}))) is passes


@pytest.mark.parametrize("said", ["", "[]", "null", "ERROR: invalid requirements input"])
def test_an_answer_that_cannot_be_read_fails(said):
    assert not audit.judged("a lock", came(said, "Traceback: something else"))


@pytest.fixture
def lock(tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text("django==5.2\n", "utf-8")
    return str(lock)


@pytest.fixture
def at(monkeypatch):
    """Let the audit ask at a port of this machine."""

    def ask(port):
        command = (*audit.COMMAND, "--osv-url", f"http://127.0.0.1:{port}/")
        monkeypatch.setattr(audit, "COMMAND", command)

    return ask


def test_without_a_connection_it_says_so_and_passes(lock, at, capsys):
    at(free_port())
    assert audit.judged(lock, audit.run(lock))
    assert "nothing was audited, no connection" in capsys.readouterr().out


def test_a_server_that_answers_with_an_error_fails_it(lock, at):
    class Broken(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_error(500)

        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Broken) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        at(server.server_address[1])
        assert not audit.judged(lock, audit.run(lock))
        server.shutdown()


def test_server_and_worker_are_audited():
    assert set(audit.LOCKS) == {"requirements/server.txt", "worker/requirements/worker.txt"}
    assert all((ROOT / lock).is_file() for lock in audit.LOCKS)
