"""F5: whatever the embedding service does, a search answers in time, by the words when not by the meaning.

Nothing is indexed while it misbehaves, so the way of indexing cannot matter.
"""

from __future__ import annotations

import time
from typing import get_args

import pytest

from knowledge.embedding.breaker import Breaker
from knowledge.embedding.openai_compatible import Endpoint, OpenAICompatibleEmbedder
from knowledge.embedding.protocol import SpaceSpec
from knowledge.models import Vector
from tests.faults.tenants import Tenants, holder, meaning
from tests.openai_server import Behaviour, OpenAIServer
from tests.world import tenant

pytestmark = pytest.mark.django_db
DEADLINE_S = 5.5
# The service answers these with complete vectors, if not in order.
GOOD = {"normal", "reversed"}


@pytest.fixture
def server():
    with OpenAIServer(meaning) as running:
        yield running


@pytest.fixture
def several(server, monkeypatch):
    space = SpaceSpec("openai", "some-model", 384)
    embedder = OpenAICompatibleEmbedder(
        space, Endpoint(server.base_url, api_key="sk-secret"), breaker=Breaker()
    )
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: embedder)
    made = Tenants(embedder, holder(0, tenant("acme")))
    made.plant_first()
    return made


@pytest.fixture
def asking(several):
    one, *_ = several.others

    def ask():
        began = time.monotonic()
        answer = one.ask()
        return answer, time.monotonic() - began

    return ask


@pytest.mark.parametrize("behaviour", get_args(Behaviour))
def test_f5_a_search_answers_in_time_whatever_the_embedder_does(
    server, several, asking, behaviour, figures
):
    stored = Vector.objects.count()
    server.behave(behaviour)
    answer, took = asking()
    server.behave()
    assert Vector.objects.count() == stored
    figures(f"F5 while searching, {behaviour}", answered_after_s=round(took, 2), **several.count())
    assert took < DEADLINE_S
    assert answer["status"] == "ok"
    assert answer["degraded"] == ([] if behaviour in GOOD else ["dense"])


def test_after_a_few_failures_nobody_waits_for_a_silent_embedder(server, asking):
    server.behave("broken")
    for _ in range(6):
        asking()
    server.behave("silent")
    answer, took = asking()
    assert answer["degraded"] == ["dense"]
    assert took < 2
