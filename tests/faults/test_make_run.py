from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from config.private import ROOT
from config.processes import command_line

PARTS = ("config", "contracts", "demo", "static", "templates", "webroot", "manage.py")
APPS = ("tenants", "knowledge", "scopes", "golden", "search", "voiceapi")
PATIENCE = 240.0


class Clone:
    """A checkout of its own in which the product runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []
        folder.mkdir()
        for name in (*PARTS, *APPS):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name)

    def start(self, **environment: str) -> subprocess.Popen[str]:
        running = subprocess.Popen(
            [sys.executable, "-m", "config.run"],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "PORT": "18700", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(running)
        return running

    def facts(self, name: str) -> dict[str, str]:
        facts: dict[str, str] = json.loads((self.folder / f".earmark/{name}.json").read_text())
        return facts

    def data_folder(self) -> str:
        code = "from config.places import place_of; print(place_of('run').data.parent)"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def processes(self) -> list[int]:
        numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return [number for number in numbers if f"{self.folder}/" in command_line(number)]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("clone") / "earmark")
    base = clone.data_folder()
    yield clone
    for running in clone.started:
        running.kill()
        running.wait()
    for number in clone.processes():
        os.kill(number, signal.SIGKILL)
    shutil.rmtree(base)


def wait_for(says, running):
    heard = []
    for line in running.stdout:
        heard.append(line)
        if says in line:
            return "".join(heard)
    raise AssertionError("".join(heard))


def answers(url):
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        try:
            with urlopen(f"{url}/readyz", timeout=5) as response:
                return response.status == 200
        except (URLError, OSError):
            time.sleep(0.1)
    return False


def stop(running):
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=PATIENCE)
    return running.returncode


def test_ctrl_c_leaves_nothing_running(clone):
    running = clone.start()
    wait_for("Ctrl-C", running)
    assert answers(clone.facts("run")["url"])
    assert stop(running) == 0
    assert clone.processes() == []


@pytest.mark.slow
def test_a_second_start_is_quick(clone):
    def seconds():
        began = time.monotonic()
        running = clone.start()
        wait_for("Earmark  http", running)
        took = time.monotonic() - began
        stop(running)
        return took

    # The quickest of three, for the machine may be busy with other tests.
    assert min(seconds() for _ in range(3)) < 5


@pytest.mark.slow
def test_what_is_printed_is_kept_for_its_owner_only(clone):
    assert (clone.folder / ".earmark/run.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_one_checkout_runs_once(clone):
    first = clone.start()
    wait_for("Ctrl-C", first)
    second = clone.start()
    output, _ = second.communicate(timeout=PATIENCE)
    stop(first)
    assert second.returncode == 1
    assert "It already runs from this folder" in output


@pytest.mark.slow
def test_a_web_server_that_died_is_started_again(clone):
    running = clone.start()
    wait_for("Ctrl-C", running)
    os.killpg(clone.facts("processes")["web"], signal.SIGKILL)
    wait_for("web ended; starting it again", running)
    assert answers(clone.facts("run")["url"])
    stop(running)


@pytest.mark.slow
def test_a_killed_run_is_cleared_away_by_the_next(clone):
    running = clone.start()
    wait_for("Ctrl-C", running)
    left = clone.facts("processes")["web"]
    running.kill()
    running.communicate()
    again = clone.start()
    heard = wait_for("Ctrl-C", again)
    assert "Ended what an earlier run left behind" in heard
    assert str(clone.folder) not in command_line(left)
    assert clone.facts("run")["url"].endswith(":18700")
    stop(again)


@pytest.mark.slow
def test_everything_killed_at_once_recovers(clone):
    running = clone.start()
    wait_for("Ctrl-C", running)
    for number in [running.pid, *clone.processes()]:
        os.kill(number, signal.SIGKILL)
    running.communicate()
    again = clone.start()
    wait_for("Ctrl-C", again)
    assert answers(clone.facts("run")["url"])
    stop(again)
