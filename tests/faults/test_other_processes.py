"""What staff change in one process holds in every other from the next search on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest
from django.utils import timezone

from config.private import ROOT
from knowledge.indexing.writing import Gates, only
from tenants.keys import issue_key, revoke_key
from tests.openai_server import OpenAIServer
from tests.processes import Process, eventually, free_port, product_environment, running
from tests.voice import BASE, names
from tests.world import BY, World, world

HOURS = ["When does the pelican lounge open?", "pelican lounge"]


@dataclass
class Far:
    """A voice runtime at a web server of two processes that are not this one."""

    url: str
    token: str
    client: httpx2.Client

    def post(self, path, body) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", "X-Earmark-Contract": "1"}
        return self.client.post(f"{self.url}{BASE}{path}", json=body, headers=headers)

    def session(self, agent, **body) -> str:
        answer = self.post("/sessions", names(agent) | body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["session"])

    def titles(self, agent, session, *queries) -> list[list[str]]:
        """What is told, asked often enough that both processes answer."""
        sent = names(agent) | {"queries": list(queries or HOURS)}
        path = f"/sessions/{session}/tools/knowledge-search"
        answers = [self.post(path, sent) for _ in range(6)]
        assert {answer.status_code for answer in answers} == {200}, answers[0].text
        return [[result["title"] for result in answer.json()["results"]] for answer in answers]

    def statuses(self, agent, session) -> set[int]:
        path = f"/sessions/{session}/tools/knowledge-search"
        sent = names(agent) | {"queries": HOURS}
        return {self.post(path, sent).status_code for _ in range(6)}


@pytest.fixture
def here(transactional_db) -> World:
    return world()


@pytest.fixture
def far(here) -> Iterator[Far]:
    issued = issue_key([here.acme.organization], label="far", by=BY, at=timezone.now())
    with OpenAIServer() as embedding:
        port = free_port()
        server = Process(
            [sys.executable, "-m", "gunicorn", "-c", "python:config.webserver",
             "--bind", f"127.0.0.1:{port}", "config.wsgi"],
            product_environment(
                embedding.base_url, EARMARK_WEB_WORKERS="2", EARMARK_WEB_THREADS="4",
                PYTHONPATH=str(ROOT),
            ),
        )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        with running(server):
            eventually(lambda: answers(url), within_s=120)
            with httpx2.Client(trust_env=False, timeout=30) as client:
                yield Far(url, issued.token, client)


def answers(url) -> bool:
    try:
        return httpx2.get(f"{url}/healthz", trust_env=False, timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False


def test_what_is_saved_or_taken_back_here_holds_there_at_once(here, far):
    """One server start for all of them: each is a change here and the next search there."""
    agent, acme = here.receptionist, here.acme
    session = far.session(agent)
    assert far.titles(agent, session) == [["Opening hours"]] * 6

    acme.pick(agent, "knowledge", containers=["help/public/prices"])
    assert all("Opening hours" not in told for told in far.titles(agent, session))
    acme.pick(agent, "knowledge", rows=[here.opening_hours])
    assert far.titles(agent, session) == [["Opening hours"]] * 6
    acme.change_item(here.opening_hours, visibility="internal")
    assert all("Opening hours" not in told for told in far.titles(agent, session))
    acme.change_item(here.opening_hours, visibility="public")

    gold = acme.segment("gold")
    contact = acme.contact("crm-1", gold)
    acme.pick(agent, "knowledge")
    acme.item("Gold hours", "The heron lounge is for gold.", gates=Gates(segments=only(gold.pk)))
    known = far.session(agent, contact={"external_id": "crm-1"})
    assert all("Gold hours" in told for told in far.titles(agent, known, "heron lounge"))
    with acme.context():
        contact.places.all().delete()
    assert all("Gold hours" not in told for told in far.titles(agent, known, "heron lounge"))

    with acme.context():
        type(agent).objects.filter(pk=agent.pk).update(is_active=False)
    assert far.statuses(agent, session) == {404}
    with acme.context():
        type(agent).objects.filter(pk=agent.pk).update(is_active=True)
    assert far.statuses(agent, session) == {200}
    with acme.context():
        key = acme.organization.servicekeybinding_set.select_related("key").get().key
    revoke_key(key, by=BY, at=timezone.now())
    assert far.statuses(agent, session) == {401}
