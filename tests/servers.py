"""A PostgreSQL of one test alone, which it may restart as rudely as it likes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.core.management import call_command
from django.db import connections

from config.cluster import halt, prepare, start
from config.embedded import Server
from config.places import Place, place_of
from config.provision import APP, OWNER, SUPERUSER, create_database, create_roles, grant_inside

DATABASE = "earmark"
PASSWORD = "only-for-this-test"


class OwnServer:
    """The server, and every alias of this process pointed at it."""

    def __init__(self, folder: Path) -> None:
        shared = place_of("test")
        self.place = Place(folder / "data", folder / "sockets", shared.binaries, shared.account)
        passwords = dict.fromkeys((SUPERUSER, OWNER, APP), PASSWORD)
        self.server = Server("test", self.place.sockets, passwords)

    def make(self) -> None:
        prepare(self.place, cluster="own", password=PASSWORD)
        start(self.place, risky=False)
        with psycopg.connect(self.server.url(SUPERUSER, "postgres"), autocommit=True) as connection:
            create_roles(connection, self.server.passwords)
            create_database(connection, DATABASE)
        with psycopg.connect(self.server.superuser_url, autocommit=True) as connection:
            grant_inside(connection)

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Hold no connection to the database, so that it can be dropped."""
        for alias in connections:
            connections[alias].close()
        yield

    def restart_immediately(self) -> None:
        """What a crash of the database does: every connection gone, recovery at the next start."""
        self.place.run("pg_ctl", "stop", "-s", "-m", "immediate", "-w", "-D", self.place.data)
        start(self.place, risky=False)


@contextmanager
def own_server() -> Iterator[OwnServer]:
    folder = Path(tempfile.mkdtemp(prefix="earmark-server-"))
    folder.chmod(0o755)
    server = OwnServer(folder)
    if server.place.account:
        shutil.chown(folder, server.place.account.uid, server.place.account.gid)
    before = {alias: dict(connections[alias].settings_dict) for alias in connections}
    try:
        server.make()
        for alias, role in (("default", APP), ("owner", OWNER)):
            _point(alias, HOST=str(server.place.sockets), NAME=DATABASE, USER=role,
                   PASSWORD=PASSWORD, EMBEDDED=None)  # fmt: skip
        call_command("migrate", database="owner", verbosity=0)
        yield server
    finally:
        for alias, entry in before.items():
            _point(alias, **entry)
        halt(server.place)
        shutil.rmtree(folder, ignore_errors=True)


def _point(alias: str, **entry: object) -> None:
    connections[alias].close()
    connections[alias].settings_dict.update(entry)
