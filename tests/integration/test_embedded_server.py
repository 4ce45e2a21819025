from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from config.cluster import answers
from config.embedded import ensure_running
from config.places import place_of
from config.private import HOME, ROOT

PROLOGUE = """
import os, psycopg
from config.cluster import answers
from config.embedded import ensure_running
from config.places import place_of
server = ensure_running("run")
database = psycopg.connect(server.owner_url, autocommit=True)
"""


class Checkout:
    """A copy of what the embedded server needs, at a path of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "config", folder / "config")
        (folder / "tenants").mkdir()
        for name in ("__init__.py", "errors.py"):
            shutil.copy(ROOT / "tenants" / name, folder / "tenants" / name)

    def start(self, code: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", PROLOGUE + code],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str) -> list[str]:
        with self.start(code) as process:
            output, _ = process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGKILL)
        return output.split()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    checkout = Checkout(tmp_path_factory.mktemp("second") / "earmark")
    (base,) = checkout.run("print(place_of('run').data.parent)")
    yield checkout
    shutil.rmtree(base)


def test_a_second_checkout_has_a_server_of_its_own(checkout):
    show = "psycopg.connect(server.superuser_url).execute('show data_directory').fetchone()[0]"
    (theirs,) = checkout.run(f"print({show})")
    assert Path(theirs) not in {place_of("run").data, place_of("test").data}


def test_the_server_recovers_after_a_kill(checkout):
    killed = "database.execute('create table kept ()'); os.kill({}, 9); os.kill(os.getpid(), 9)"
    number = "int((place_of('run').data / 'postmaster.pid').read_text().split()[0])"
    checkout.run(killed.format(number))
    assert checkout.run("print(database.execute('select from kept').rowcount)") == ["0"]


def test_a_lock_file_of_another_process_does_not_keep_the_server_down(checkout):
    (data,) = checkout.run("print(place_of('run').data)")
    (Path(data) / "postmaster.pid").write_text(f"{os.getpid()}\n{data}\n1\n5432\n\n\n")
    assert checkout.run("print('up')") == ["up"]


def test_the_server_stops_with_its_last_user(checkout):
    with checkout.start("print('up', flush=True); input()") as first:
        assert first.stdout.readline() == "up\n"
        checkout.run("")
        (still,) = checkout.run("print('up')")
        first.communicate("\n", timeout=60)
    probe = "from config.cluster import answers; from config.places import place_of; print(answers(place_of('run')))"
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=checkout.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (still, done.stdout.strip()) == ("up", "False")


def test_deleted_passwords_mean_a_new_server_and_the_old_one_set_aside(checkout):
    (data,) = checkout.run("print(place_of('run').data)")
    (checkout.folder / ".earmark/postgres-run.json").unlink()
    checkout.run("")
    assert Path(data).with_suffix(".old").is_dir()


def test_the_server_listens_on_no_network_address(checkout):
    assert checkout.run('print(database.execute("show listen_addresses").fetchone())') == ["('',)"]


def test_passwords_are_readable_by_their_owner_only():
    ensure_running("test")
    assert (HOME / "postgres-test.json").stat().st_mode & 0o777 == 0o600
    assert answers(place_of("test"))
