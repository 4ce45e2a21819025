"""Against a running server: set the four EARMARK_ variables that `make run` prints."""

import os

import pytest

from earmark_worker.client import VoiceClient
from earmark_worker.console.agent import ConsoleAgent
from earmark_worker.console.models import ScriptedModel
from earmark_worker.events import Ledger
from earmark_worker.opening import CallDetails, open_conversation
from earmark_worker.preflight import preflight
from earmark_worker.settings import Settings
from earmark_worker.wire import Call

QUESTION = os.environ.get("EARMARK_QUESTION", "How do I get a refund?")


@pytest.fixture
async def call():
    ledger = Ledger()
    details = CallDetails(
        Call(id="e2e", channel="phone", country=os.environ.get("EARMARK_COUNTRY"), language="en"),
        contact=os.environ.get("EARMARK_CONTACT"),
    )
    conversation = await open_conversation(details, listeners=(ledger,))
    yield conversation, ledger
    await conversation.end()


async def test_the_server_is_ready_for_this_worker():
    async with VoiceClient(Settings.read(os.environ).url, key="") as client:
        assert (await preflight(client))[-1] == "ready"


async def test_a_question_is_answered_from_the_knowledge_of_the_organization(call):
    conversation, ledger = call
    exchange = await ConsoleAgent(conversation, ScriptedModel()).say(QUESTION)
    assert exchange.searches[0]["status"] == "ok"
    assert exchange.written in exchange.searches[0]["results"][0]["content"].replace("\n\n", "\n")
    assert ledger.searches == 1


async def test_a_follow_up_is_accepted_by_the_server(call):
    conversation, _ = call
    agent = ConsoleAgent(conversation, ScriptedModel())
    await agent.say(QUESTION)
    assert conversation.follow_ups.offer() is not None
    exchange = await agent.say("and how long does that take, my reference is 12345678")
    assert exchange.searches[0]["status"] in ("ok", "no_match")


async def test_an_early_search_is_adopted_and_reported(call):
    conversation, ledger = call
    from earmark_worker.turns import Speaker, Turn, TurnView

    view = TurnView((Turn(Speaker.CALLER, QUESTION),))
    generation = conversation.begin("g1", view)
    arguments = f'{{"queries": ["{QUESTION}"]}}'
    assert generation.admit("c1", "search_knowledge", arguments, speculate=True)
    outcome = await conversation.search("c1", [QUESTION], view=view)
    assert outcome.status == "ok"
    assert ledger.used == 1
    assert len(conversation.follow_ups.adopted()) == 1


async def test_nonsense_is_an_honest_miss_with_guidance(call):
    conversation, _ = call
    exchange = await ConsoleAgent(conversation, ScriptedModel()).say("zxqv blorp wuggle frimp")
    assert exchange.searches[0]["status"] in ("no_match", "ok")
    assert exchange.written
