"""F10: what staff change in one process holds in every other from the next search on.

Nothing is indexed meanwhile, so the way of indexing cannot matter.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx2
import pytest
from django.utils import timezone

from knowledge.indexing.writing import Gates, only
from tenants.keys import issue_key, revoke_key
from tests.openai_server import OpenAIServer
from tests.processes import Process, eventually, free_port, running, web
from tests.voice import BASE, names
from tests.world import BY, World, world

HOURS = ["When does the pelican lounge open?", "pelican lounge"]
OWN, SECRET = (f"ORG{number}-SECRET-{uuid.uuid4()}" for number in (0, 1))


@dataclass
class Far:
    """A voice runtime at a web server of two processes that are not this one."""

    url: str
    token: str
    client: httpx2.Client
    server: Process
    told: list[str] = field(default_factory=list)
    seen: Counter[int] = field(default_factory=Counter)

    def post(self, path, body) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", "X-Earmark-Contract": "1"}
        answer = self.client.post(f"{self.url}{BASE}{path}", json=body, headers=headers)
        self.told.append(answer.text)
        self.seen[answer.status_code] += 1
        return answer

    def leaks(self) -> list[str]:
        """Return what was told or written with another organization's word, or with anybody's in a log."""
        metrics = self.client.get(f"{self.url}/metrics").text
        written = [*self.server.lines(), metrics]
        return [text for text in self.told if SECRET in text] + [
            text for text in written if SECRET in text or OWN in text
        ]

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
    """Its two organizations say a word of their own in all that they have."""
    made = world()
    hours = "The pelican lounge opens at seven in the morning."
    made.acme.item("Opening hours", f"{hours} {OWN}", folder="public/hours")
    made.globex.item("Opening hours", f"The pelican lounge of globex opens at nine. {SECRET}")
    return made


@pytest.fixture
def far(here) -> Iterator[Far]:
    issued = issue_key([here.acme.organization], label="far", by=BY, at=timezone.now())
    with OpenAIServer() as embedding:
        port = free_port()
        server = web(embedding.base_url, port, EARMARK_WEB_WORKERS="2", EARMARK_WEB_THREADS="4")
        url = f"http://127.0.0.1:{port}"
        with running(server):
            eventually(lambda: answers(url), within_s=120)
            with httpx2.Client(trust_env=False, timeout=30) as client:
                yield Far(url, issued.token, client, server)


def answers(url) -> bool:
    try:
        return httpx2.get(f"{url}/healthz", trust_env=False, timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False


def test_f10_what_is_saved_or_taken_back_here_holds_there_at_once(here, far, figures):
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

    a_segment_is_taken_back(acme, agent, far)
    agent_and_key_are_taken_back(acme, agent, far, session)
    nothing_leaked(far, figures)


def a_segment_is_taken_back(acme, agent, far) -> None:
    gold = acme.segment("gold")
    contact = acme.contact("crm-1", gold)
    acme.pick(agent, "knowledge")
    acme.item("Gold hours", "The heron lounge is for gold.", gates=Gates(segments=only(gold.pk)))
    known = far.session(agent, contact={"external_id": "crm-1"})
    assert all("Gold hours" in told for told in far.titles(agent, known, "heron lounge"))
    with acme.context():
        contact.places.all().delete()
    assert all("Gold hours" not in told for told in far.titles(agent, known, "heron lounge"))


def agent_and_key_are_taken_back(acme, agent, far, session) -> None:
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


def nothing_leaked(far, figures) -> None:
    told_own = sum(OWN in text for text in far.told)
    answers = " ".join(f"{status} {n}" for status, n in sorted(far.seen.items()))
    figures(
        "F10, taken back in the middle of a call", changes=8, answers=answers,
        told_own_word=told_own, leaks=len(far.leaks()),
    )  # fmt: skip
    assert far.leaks() == []
    assert told_own > 0
