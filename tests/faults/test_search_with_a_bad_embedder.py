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
from tests.faults.tenants import ASKED, Tenants, holder, meaning
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
    def ask():
        """Let two organizations ask; return the answers, and the longest that one took."""
        answers, longest = [], 0.0
        for one in several.others:
            began = time.monotonic()
            answers.append(one.ask())
            longest = max(longest, time.monotonic() - began)
        return answers, longest

    return ask


@pytest.mark.parametrize("behaviour", get_args(Behaviour))
def test_f5_a_search_answers_in_time_whatever_the_embedder_does(
    server, several, asking, behaviour, figures
):
    stored = Vector.objects.count()
    server.behave(behaviour)
    answers, took = asking()
    server.behave()
    assert Vector.objects.count() == stored
    figures(f"F5 while searching, {behaviour}", answered_after_s=round(took, 2), **several.count())
    assert took < DEADLINE_S
    for one, answer in zip(several.others, answers, strict=True):
        assert answer["status"] == "ok"
        assert answer["degraded"] == ([] if behaviour in GOOD else ["dense"])
        assert one.word in repr(answer["results"])


def test_after_a_few_failures_nobody_waits_for_a_silent_embedder(server, several, asking):
    server.behave("broken")
    for _ in range(3):
        asking()
    server.behave("silent")
    answers, took = asking()
    assert {tuple(answer["degraded"]) for answer in answers} == {("dense",)}
    assert took < 2
    assert several.leaks() == []


def test_a_word_of_another_organization_would_be_noticed(server, several, asking):
    one, other = several.others
    one.say("Opening hours", f"The pelican lounge opens at seven. {other.word}", title=ASKED[0])
    server.behave("broken")
    asking()
    assert several.leaks() == ["neighbour-2 to neighbour-1"]
