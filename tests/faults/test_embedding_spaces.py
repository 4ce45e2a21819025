from __future__ import annotations

import sys
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from knowledge.calibration.fitting import fit
from knowledge.embedding.selection import forget_active_space
from knowledge.indexing.embedded import MOST_TEXTS
from knowledge.models import EmbeddingSpace, SpaceGap, Vector
from knowledge.spaces.progress import progress
from tenants.models import Organization
from tests.faults.modes import Broker
from tests.openai_server import DIMENSIONS, OpenAIServer
from tests.processes import Process, drain, eventually, product_environment, running, worker
from tests.spaces import (
    LARGE,
    SMALL,
    calibrate,
    index_everything,
    lengths,
    model,
    searched,
    wanted,
    word_vectors,
)
from tests.voice import Runtime, runtime
from tests.world import tenant

OTHER = 256
CREATE = ("create", "--model", "tests", "--dimensions", str(OTHER))
FILL = ("fill", f"openai:tests:{OTHER}")


def command(base_url: str, *words: str, dimensions: int = DIMENSIONS, name: str = "tests"):
    environment = product_environment(
        base_url, EARMARK_EMBEDDING_MODEL=name, EARMARK_EMBEDDING_DIMENSIONS=str(dimensions)
    )
    return Process([sys.executable, "manage.py", "embedding-space", *words], environment)


def done(process: Process, within_s: float = 120.0) -> list[str]:
    """Wait until a command has ended well, and return what it said."""
    with running(process):
        eventually(lambda: not process.is_alive, within_s=within_s)
        assert process.code == 0, process.lines()
        return process.lines()


def indexed_first(bench, count: int) -> None:
    bench.save(count)
    with running(drain(bench.server.base_url)):
        bench.converged()
    done(command(bench.server.base_url, *CREATE))


def second() -> EmbeddingSpace:
    return EmbeddingSpace.objects.get(dimensions=OTHER)


def filled() -> int:
    return Vector.objects.filter(space__dimensions=OTHER).count()


def missing() -> int:
    space, organizations = second(), Organization.objects.all()
    return sum(one.missing for one in progress(space, organizations))


def two_minutes_pass() -> None:
    """Let the leases of the dead run out now."""
    past = datetime.now(tz=UTC) - timedelta(seconds=1)
    SpaceGap.objects.exclude(lease_until=None).update(lease_until=past)


def paid_three_times(bench) -> int:
    """How many passages were paid more than once in one of the two spaces."""
    passages = [count for text, count in bench.server.inputs.items() if "\nIt says" in text]
    return sum(count > 2 for count in passages)


def test_a_fill_that_is_killed_goes_on_and_pays_for_one_batch_twice_at_most(bench):
    indexed_first(bench, 150)
    bench.server.behave(delay_s=0.3)
    first = command(bench.server.base_url, *FILL)
    with running(first):
        eventually(lambda: 0 < filled() < 300)
        first.kill()
    bench.server.behave()
    two_minutes_pass()
    assert missing() > 0
    done(command(bench.server.base_url, *FILL))
    assert missing() == 0
    assert lengths() == {searched().pk: {DIMENSIONS}, second().pk: {OTHER}}
    assert paid_three_times(bench) <= MOST_TEXTS


@pytest.mark.slow
def test_a_drain_that_is_killed_while_it_fills_is_followed_by_another(bench):
    indexed_first(bench, 100)
    done(command(bench.server.base_url, *FILL, "--no-wait"))
    bench.server.behave(delay_s=0.3)
    first = drain(bench.server.base_url)
    with running(first):
        eventually(lambda: filled() > 0)
        first.kill()
    bench.server.behave()
    two_minutes_pass()
    with running(drain(bench.server.base_url)):
        eventually(lambda: missing() == 0)
    assert paid_three_times(bench) <= MOST_TEXTS


@pytest.mark.slow
def test_two_drains_and_a_command_share_a_fill_and_pay_once(bench):
    indexed_first(bench, 200)
    bench.server.behave(delay_s=0.05)
    one, other = drain(bench.server.base_url), drain(bench.server.base_url)
    with running(one, other):
        done(command(bench.server.base_url, *FILL))
    assert (missing(), paid_three_times(bench)) == (0, 0)


@pytest.mark.slow
def test_a_provider_that_limits_the_rate_is_waited_for_and_asked_no_more_than_it_wants(bench):
    indexed_first(bench, 40)
    # Otherwise the drain would ask for vectors of general questions meanwhile.
    fit(bench.organization_id, searched(), bench.embedder(), at=datetime.now(tz=UTC))
    done(command(bench.server.base_url, *FILL, "--no-wait"))
    bench.server.behave("rate_limited", retry_after=20)
    with running(drain(bench.server.base_url)):
        calls = bench.server.calls
        eventually(lambda: bench.server.calls > calls)
        refused = bench.server.calls
        threading.Event().wait(3)
        assert bench.server.calls == refused
        bench.server.behave()
        eventually(lambda: missing() == 0)


@pytest.mark.slow
def test_a_worker_fills_a_second_space(bench, settings):
    indexed_first(bench, 60)
    done(command(bench.server.base_url, *FILL, "--no-wait"))
    broker = Broker()
    try:
        with running(worker(bench.server.base_url, broker.url)):
            broker.app.send_task("knowledge.fill_spaces", retry=True)
            eventually(lambda: missing() == 0)
    finally:
        broker.close()
    assert paid_three_times(bench) == 0


class Call:
    """One caller who asks without a pause, each search in turn about another bird."""

    birds = ("pelican", "flamingo", "ostrich", "heron")

    def __init__(self, voice: Runtime, agent) -> None:
        self.voice, self.agent = Runtime(voice.token, Client()), agent
        self.answers: list[dict[str, Any]] = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._ask, daemon=True)

    def _ask(self) -> None:
        try:
            session = self.voice.session(self.agent)
            while not self.stop.is_set():
                bird = self.birds[len(self.answers) % len(self.birds)]
                query = f"what does a {bird} ticket cost"
                said = self.voice.search(self.agent, session, query)
                self.answers.append({"http": said.status_code, "bird": bird, **said.json()})
        finally:
            connection.close()

    def hang_up(self) -> None:
        self.stop.set()
        self.thread.join()


class Town:
    """Content, a drain, and eight callers who all the time ask for what is there."""

    def __init__(self, server: OpenAIServer) -> None:
        self.server, self.acme = server, tenant("acme")
        self.agent = self.acme.agent()
        self.items(range(200), "is about something else")
        for bird in Call.birds:
            self.acme.item(f"Ticket {bird}", f"A {bird} ticket costs ten dirhams.")
        index_everything()
        forget_active_space()
        calibrate(searched())
        voice = runtime(self.acme.organization)
        self.calls = [Call(voice, self.agent) for _ in range(8)]

    def items(self, numbers, said: str) -> None:
        for number in numbers:
            self.acme.item(f"Item {number}", f"Number {number} {said}.")

    def say(self, *words: str) -> str:
        """Type a command, and hear more of every caller afterwards."""
        made = command(self.server.base_url, *words, dimensions=SMALL, name=model(SMALL))
        told = "\n".join(done(made))
        self.hear_more()
        return told

    def hear_more(self) -> None:
        wanted = [len(call.answers) + 5 for call in self.calls]
        eventually(
            lambda: all(len(c.answers) >= n for c, n in zip(self.calls, wanted, strict=True))
        )

    def answers(self) -> list[dict[str, Any]]:
        return [answer for call in self.calls for answer in call.answers]


@pytest.fixture
def town(transactional_db, settings):
    settings.VOICE_RATES = dict.fromkeys(settings.VOICE_RATES, 0)
    with OpenAIServer(word_vectors) as server:
        settings.EARMARK_EMBEDDING = wanted(server.base_url)
        town = Town(server)
        variables = {
            "EARMARK_EMBEDDING_MODEL": model(SMALL),
            "EARMARK_EMBEDDING_DIMENSIONS": str(SMALL),
        }
        environment = product_environment(server.base_url, **variables)
        draining = Process([sys.executable, "manage.py", "index", "drain"], environment)
        with running(draining):
            for call in town.calls:
                call.thread.start()
            yield town
            for call in town.calls:
                call.hang_up()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_model_changes_while_eight_callers_search_and_content_changes(town):
    town.hear_more()
    town.say("create", "--model", model(LARGE), "--dimensions", str(LARGE))
    assert "204 of 204 rows filled" in town.say("fill", f"openai:{model(LARGE)}")
    town.items(range(20), "was changed meanwhile")
    town.say("switch", f"openai:{model(LARGE)}")
    town.items(range(20, 40), "was changed meanwhile")
    town.say("rollback")
    town.say("drop", f"openai:{model(LARGE)}")
    answers = town.answers()
    assert {(answer["http"], answer["status"]) for answer in answers} == {(200, "ok")}
    assert not any(answer["degraded"] for answer in answers)
    assert all(answer["bird"] in answer["results"][0]["content"] for answer in answers)
    assert lengths() == {searched().pk: {SMALL}}
    assert EmbeddingSpace.objects.count() == 1
