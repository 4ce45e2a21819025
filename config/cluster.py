"""Making, starting and stopping one PostgreSQL server. The caller holds the lock of its purpose."""

from __future__ import annotations

import os
import shutil
import socket
import time
from pathlib import Path
from typing import Final

from config.errors import EmbeddedServerError
from config.log_files import shorten
from config.places import Place
from config.processes import command_line
from config.provision import SUPERUSER

SETTINGS: Final = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "work_mem": "64MB",
    "maintenance_work_mem": "256MB",
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    "jit": "off",
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Statements and details of errors carry item bodies; the log keeps the bare message.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
RISKY_BUT_FAST: Final = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_SOCKET: Final = ".s.PGSQL.5432"
_START_SECONDS: Final = "60"
_ORPHANS_SECONDS: Final = 15.0
_LOG_BYTES: Final = 5_000_000
_MARK: Final = "earmark-cluster"


def answers(place: Place) -> bool:
    """Whether a server accepts connections there."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(place.sockets / _SOCKET))
        except OSError:
            return False
    return True


def prepare(place: Place, *, cluster: str, password: str) -> None:
    """Make the server's files unless they are there and carry the name `cluster`.

    A server of another name is moved aside: files below /var/tmp outlive a deleted checkout, and a
    new one at the same path must not adopt them.
    """
    mark = place.data / _MARK
    if mark.exists() and mark.read_text() == cluster:
        return
    if place.data.exists():
        old = place.data.with_suffix(".old")
        shutil.rmtree(old, ignore_errors=True)
        place.data.rename(old)
    draft = place.data.with_suffix(".new")
    shutil.rmtree(draft, ignore_errors=True)
    place.own(draft)
    _initialise(place, draft, password)
    (draft / _MARK).write_text(cluster)
    draft.rename(place.data)


def start(place: Place, *, risky: bool) -> None:
    """Start the server and wait until it accepts connections.

    Raises: EmbeddedServerError with the end of its log.
    """
    place.own(place.sockets)
    shorten_log(place)
    log = place.data / "server.log"
    settings = {**SETTINGS, "unix_socket_directories": str(place.sockets)}
    settings |= RISKY_BUT_FAST if risky else {}
    options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
    where: tuple[str | Path, ...] = ("-D", place.data, "-l", log, "-o", options)
    give_up = time.monotonic() + _ORPHANS_SECONDS
    while place.run("pg_ctl", "start", "-s", "-w", "-t", _START_SECONDS, *where).returncode:
        tail = log.read_text(errors="replace")[-600:] if log.exists() else ""
        # After a kill -9 the server's children need a moment to notice that it has gone.
        if "shared memory" not in tail or time.monotonic() > give_up:
            raise EmbeddedServerError(f"PostgreSQL did not start. End of its log:\n{tail}")
        time.sleep(0.3)


def shorten_log(place: Place) -> None:
    """Keep only the end of the server's log when it has grown too long."""
    shorten(place.data / "server.log", _LOG_BYTES)


def halt(place: Place) -> None:
    """Stop the server if one runs there, whether or not it still answers."""
    _drop_stale_locks(place)
    if (place.data / "postmaster.pid").exists():
        wait = ("-w", "-t", _START_SECONDS)
        place.run("pg_ctl", "stop", "-s", "-m", "fast", *wait, "-D", place.data)


def _initialise(place: Place, draft: Path, password: str) -> None:
    file = place.data.with_suffix(".password")
    file.touch(mode=0o600)
    file.write_text(password)
    if place.account:
        os.chown(file, place.account.uid, place.account.gid)
    try:
        done = place.run(
            "initdb", "-D", draft, "-U", SUPERUSER, "-A", "scram-sha-256", f"--pwfile={file}",
            "-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C",
            "--no-instructions",
        )  # fmt: skip
    finally:
        file.unlink()
    if done.returncode:
        raise EmbeddedServerError(f"initdb failed: {done.stderr.strip()[-500:]}")


def _drop_stale_locks(place: Place) -> None:
    # After a kill -9 the number in these files may belong to another process by now, or to one that
    # nobody has buried yet, and PostgreSQL would then refuse to start. Its own check of the shared
    # memory still keeps a second server out.
    for file in (place.data / "postmaster.pid", place.sockets / f"{_SOCKET}.lock"):
        try:
            pid = int(file.read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            continue
        if str(place.data) not in command_line(pid):
            file.unlink(missing_ok=True)
