"""Whatever the embedding service does, a search answers in time, by the words when not by the meaning."""

from __future__ import annotations

import time
from typing import get_args

import pytest

from knowledge.embedding.breaker import Breaker
from knowledge.embedding.openai_compatible import Endpoint, OpenAICompatibleEmbedder
from knowledge.embedding.protocol import SpaceSpec
from knowledge.models import Vector
from tests.openai_server import Behaviour, OpenAIServer
from tests.voice import runtime
from tests.world import world

pytestmark = pytest.mark.django_db
HOURS = "When does the pelican lounge open?"
DEADLINE_S = 5.5
# The service answers these with complete vectors, if not in order.
GOOD = {"normal", "reversed"}


@pytest.fixture
def server(monkeypatch):
    with OpenAIServer() as running:
        space = SpaceSpec("openai", "some-model", 384)
        embedder = OpenAICompatibleEmbedder(
            space, Endpoint(running.base_url, api_key="sk-secret"), breaker=Breaker()
        )
        monkeypatch.setattr("scopes.asking.current_embedder", lambda: embedder)
        yield running


@pytest.fixture
def asking(server):
    here = world()
    voice = runtime(here.acme.organization)
    session = voice.session(here.receptionist)

    def ask():
        began = time.monotonic()
        answer = voice.search(here.receptionist, session, HOURS, "pelican lounge hours").json()
        return answer, time.monotonic() - began

    return ask


@pytest.mark.parametrize("behaviour", get_args(Behaviour))
def test_a_search_answers_in_time_whatever_the_embedder_does(server, asking, behaviour):
    server.behave(behaviour)
    answer, took = asking()
    assert took < DEADLINE_S
    assert answer["status"] == "ok"
    assert answer["degraded"] == ([] if behaviour in GOOD else ["dense"])
    assert not Vector.objects.exists()


def test_after_a_few_failures_nobody_waits_for_a_silent_embedder(server, asking):
    server.behave("broken")
    for _ in range(6):
        asking()
    server.behave("silent")
    answer, took = asking()
    assert answer["degraded"] == ["dense"]
    assert took < 2
