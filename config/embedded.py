"""PostgreSQL 18 with pgvector from the installed package: one private server for each checkout and purpose."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import time
from dataclasses import dataclass, field
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import psycopg

from config.errors import EmbeddedServerError
from config.places import Place, Purpose, place_of
from config.private import kept_secrets, locked, open_lock
from config.processes import command_line
from config.provision import APP, OWNER, SUPERUSER, create_database, create_roles, grant_inside

DATABASE: Final = "earmark"
_SETTINGS: Final = {
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
_RISKY_BUT_FAST: Final = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_SOCKET: Final = ".s.PGSQL.5432"
_START_SECONDS: Final = "60"
_ORPHANS_SECONDS: Final = 15.0
_LOG_BYTES: Final = 5_000_000
_held: dict[Purpose, int] = {}


@dataclass(frozen=True)
class Server:
    """A running embedded server and the three roles that can enter it."""

    purpose: Purpose
    sockets: Path
    passwords: dict[str, str] = field(repr=False)

    def url(self, role: str, database: str = DATABASE) -> str:
        """The address of `database` for `role`."""
        password, folder = quote(self.passwords[role], safe=""), quote(str(self.sockets), safe="")
        return f"postgresql://{role}:{password}@/{database}?host={folder}"

    @property
    def app_url(self) -> str:
        """For the product: under row level security."""
        return self.url(APP)

    @property
    def owner_url(self) -> str:
        """For migrations."""
        return self.url(OWNER)

    @property
    def superuser_url(self) -> str:
        """For provisioning only."""
        return self.url(SUPERUSER)


def describe(purpose: Purpose) -> Server:
    """The server's address and passwords, whether or not it runs."""
    keys = ("cluster", SUPERUSER, OWNER, APP)
    return Server(purpose, place_of(purpose).sockets, kept_secrets(f"postgres-{purpose}", *keys))


def addresses(purpose: Purpose) -> dict[str, dict[str, Any]]:
    """The entries `default` and `owner` of DATABASES for the embedded server."""
    server = describe(purpose)
    return {
        alias: {
            "NAME": DATABASE,
            "USER": role,
            "PASSWORD": server.passwords[role],
            "HOST": str(server.sockets),
            "PORT": "",
        }
        for alias, role in (("default", APP), ("owner", OWNER))
    }


def local_secret(key: str) -> str:
    """A random value made once for this checkout."""
    return kept_secrets("secrets", key)[key]


def ensure_running(purpose: Purpose = "run") -> Server:
    """Start the server unless it answers; it stops when its last user has gone.

    Raises: EmbeddedServerError with the end of the server's log.
    """
    server, place = describe(purpose), place_of(purpose)
    if purpose in _held and _answers(place):
        return server
    with locked(f"postgres-{purpose}"):
        if purpose not in _held:
            _held[purpose] = open_lock(f"postgres-{purpose}-users", shared=True)
            atexit.register(release, purpose)
        if not _answers(place):
            _stop(place)
            _set_aside_stranger(place, server)
            if not place.data.exists():
                _initialise(place, server)
            _start(place, purpose)
        _provision_once(place, server)
    return server


def release(purpose: Purpose) -> None:
    """Stop using the server; the last user stops it. A user killed without warning counts as gone."""
    if purpose not in _held:
        return
    with locked(f"postgres-{purpose}"):
        # Closing is enough and right: unlocking would also unlock for the process that forked us.
        os.close(_held.pop(purpose))
        users = open_lock(f"postgres-{purpose}-users")
        try:
            flock(users, LOCK_EX | LOCK_NB)
            _stop(place_of(purpose))
        except BlockingIOError:
            pass
        finally:
            os.close(users)


def stop(purpose: Purpose = "run") -> None:
    """Stop the server whoever uses it."""
    with locked(f"postgres-{purpose}"):
        _stop(place_of(purpose))


def _answers(place: Place) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(place.sockets / _SOCKET))
        except OSError:
            return False
    return True


def _initialise(place: Place, server: Server) -> None:
    draft = place.data.with_suffix(".new")
    shutil.rmtree(draft, ignore_errors=True)
    place.own(draft)
    password = place.data.with_suffix(".password")
    password.touch(mode=0o600)
    password.write_text(server.passwords[SUPERUSER])
    if place.account:
        os.chown(password, place.account.uid, place.account.gid)
    try:
        done = place.run(
            "initdb", "-D", draft, "-U", SUPERUSER, "-A", "scram-sha-256", f"--pwfile={password}",
            "-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C",
            "--no-instructions",
        )  # fmt: skip
    finally:
        password.unlink()
    if done.returncode:
        raise EmbeddedServerError(f"initdb failed: {done.stderr.strip()[-500:]}")
    (draft / "earmark-cluster").write_text(server.passwords["cluster"])
    draft.rename(place.data)


def _set_aside_stranger(place: Place, server: Server) -> None:
    # Data below /var/tmp outlives a deleted checkout; a new one at the same path must not adopt it.
    mark = place.data / "earmark-cluster"
    if not place.data.exists() or (
        mark.exists() and mark.read_text() == server.passwords["cluster"]
    ):
        return
    old = place.data.with_suffix(".old")
    shutil.rmtree(old, ignore_errors=True)
    place.data.rename(old)


def _start(place: Place, purpose: Purpose) -> None:
    place.own(place.sockets)
    log = place.data / "server.log"
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.unlink()
    settings = {**_SETTINGS, "unix_socket_directories": str(place.sockets)}
    settings |= _RISKY_BUT_FAST if purpose == "test" else {}
    options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
    give_up = time.monotonic() + _ORPHANS_SECONDS
    where: tuple[str | Path, ...] = ("-D", place.data, "-l", log, "-o", options)
    while place.run("pg_ctl", "start", "-s", "-w", "-t", _START_SECONDS, *where).returncode:
        tail = log.read_text(errors="replace")[-600:] if log.exists() else ""
        # After a kill -9 the server's children need a moment to notice that it has gone.
        if "shared memory" not in tail or time.monotonic() > give_up:
            raise EmbeddedServerError(f"PostgreSQL did not start. End of its log:\n{tail}")
        time.sleep(0.3)


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


def _stop(place: Place) -> None:
    _drop_stale_locks(place)
    if (place.data / "postmaster.pid").exists():
        place.run(
            "pg_ctl", "stop", "-s", "-m", "fast", "-w", "-t", _START_SECONDS, "-D", place.data
        )


def _provision_once(place: Place, server: Server) -> None:
    # The mark comes last: a start that was killed half way is completed by the next.
    mark = place.data / "earmark-provisioned"
    if not mark.exists():
        _provision(server)
        mark.touch()


def _provision(server: Server) -> None:
    with psycopg.connect(server.url(SUPERUSER, "postgres"), autocommit=True) as connection:
        create_roles(connection, server.passwords)
        create_database(connection, DATABASE)
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        grant_inside(connection)
