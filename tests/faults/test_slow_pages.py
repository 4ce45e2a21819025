"""Pages that wait for the database hold neither every thread nor every connection: a caller is answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2
import pytest
from django.conf import settings
from django.db import connections, transaction
from django.utils import timezone

from tenants.keys import issue_key
from tests.openai_server import OpenAIServer
from tests.processes import eventually, free_port, running, web
from tests.staff import browser, person
from tests.voice import BASE, names
from tests.world import BY, World, world

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
THREADS = 4
PLACES = 2
LOCKED = "knowledge_importrun"
PAGE = "/admin/knowledge/importrun/"


@dataclass
class Server:
    """One web process of four threads, a caller and somebody of staff."""

    url: str
    token: str
    cookie: str
    statuses: list[int] = field(default_factory=list)

    def page(self) -> None:
        cookies = {settings.SESSION_COOKIE_NAME: self.cookie}
        with httpx2.Client(trust_env=False, timeout=60, cookies=cookies) as client:
            self.statuses.append(client.get(f"{self.url}{PAGE}").status_code)

    def post(self, path, body) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", "X-Earmark-Contract": "1"}
        with httpx2.Client(trust_env=False, timeout=60) as client:
            return client.post(f"{self.url}{BASE}{path}", json=body, headers=headers)

    def search(self, agent, session) -> httpx2.Response:
        sent = names(agent) | {"queries": ["When does the pelican lounge open?"]}
        return self.post(f"/sessions/{session}/tools/knowledge-search", sent)


@pytest.fixture
def here() -> World:
    return world()


@pytest.fixture
def server(here) -> Iterator[Server]:
    key = issue_key([here.acme.organization], label="far", by=BY, at=timezone.now())
    client = browser(person("viewer", (here.acme.organization, "viewer")))
    own = {
        "SECRET_KEY": settings.SECRET_KEY,
        "EARMARK_WEB_WORKERS": "1",
        "EARMARK_WEB_THREADS": str(THREADS),
        "EARMARK_WEB_CONNECTIONS": str(THREADS),
    }
    with OpenAIServer() as embedding:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        with running(web(embedding.base_url, port, **own)):
            eventually(lambda: is_there(url), within_s=120)
            yield Server(url, key.token, client.cookies[settings.SESSION_COOKIE_NAME].value)


def is_there(url) -> bool:
    try:
        return httpx2.get(f"{url}/healthz", trust_env=False, timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False


@contextmanager
def waiting_pages(server) -> Iterator[list[threading.Thread]]:
    """As many pages as the server has threads, all of a table that nobody may read meanwhile."""
    threads = [threading.Thread(target=server.page) for _ in range(THREADS)]
    with transaction.atomic("owner"):
        with connections["owner"].cursor() as cursor:
            cursor.execute(f"LOCK TABLE {LOCKED} IN ACCESS EXCLUSIVE MODE")
        for thread in threads:
            thread.start()
        eventually(lambda: waiting_for_the_table() + len(server.statuses) >= THREADS)
        yield threads
    for thread in threads:
        thread.join(60)


def waiting_for_the_table() -> int:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass", [LOCKED]
        )
        return int(cursor.fetchone()[0])


def test_a_caller_is_answered_while_as_many_pages_wait_as_there_are_threads(server, here):
    agent = here.receptionist
    session = server.post("/sessions", names(agent)).json()["session"]
    assert server.search(agent, session).status_code == 200
    with waiting_pages(server) as pages:
        answer = server.search(agent, session)
        still = sum(page.is_alive() for page in pages)
    assert answer.status_code == 200, answer.text
    assert still == PLACES
    assert sorted(server.statuses) == [200] * PLACES + [503] * (THREADS - PLACES)
