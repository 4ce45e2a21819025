"""PostgreSQL 18 with pgvector from the installed package: one private server for each checkout and purpose."""

from __future__ import annotations

import atexit
import os
from dataclasses import dataclass, field
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import psycopg

from config.cluster import answers, halt, prepare, start
from config.places import Place, Purpose, place_of
from config.private import kept_secrets, locked, open_lock
from config.provision import APP, OWNER, SUPERUSER, create_database, create_roles, grant_inside

DATABASE: Final = "earmark"
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
    if purpose in _held and answers(place):
        return server
    with locked(f"postgres-{purpose}"):
        if purpose not in _held:
            _held[purpose] = open_lock(f"postgres-{purpose}-users", shared=True)
            atexit.register(release, purpose)
        if not answers(place):
            halt(place)
            secrets = server.passwords
            prepare(place, cluster=secrets["cluster"], password=secrets[SUPERUSER])
            start(place, risky=purpose == "test")
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
            halt(place_of(purpose))
        except BlockingIOError:
            pass
        finally:
            os.close(users)


def stop(purpose: Purpose = "run") -> None:
    """Stop the server whoever uses it."""
    with locked(f"postgres-{purpose}"):
        halt(place_of(purpose))


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
