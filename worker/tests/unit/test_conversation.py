import asyncio
import json

from earmark_worker.events import ToolCallSuppressed
from earmark_worker.wire import SearchReply
from tests.fakes.backend import FakeBackend, a_conversation, a_reply, an_open_session, view_of

REFUND = view_of("c:I want a refund")
ARGUMENTS = json.dumps({"queries": ["refund"]})


async def _settle():
    await asyncio.sleep(0.01)


async def test_an_accepted_generation_makes_one_backend_request():
    backend = FakeBackend()
    conversation, ledger, _ = a_conversation(backend)
    generation = conversation.begin("g1", REFUND)
    assert generation.admit("c1", "search_knowledge", ARGUMENTS, speculate=True)
    await _settle()
    outcome = await conversation.search("c1", ["refund"], view=REFUND)
    assert (outcome.status, len(backend.requests), ledger.used) == ("ok", 1, 1)
    assert backend.requests[0].speculative is True


async def test_a_call_nobody_saw_early_is_searched_when_it_is_authorised():
    backend = FakeBackend()
    conversation, ledger, _ = a_conversation(backend)
    outcome = await conversation.search("c1", ["refund"], view=REFUND)
    assert (outcome.status, backend.requests[0].speculative) == ("ok", False)
    assert ledger.started == 0


async def test_a_discarded_generation_changes_no_state():
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    generation = conversation.begin("g1", REFUND)
    generation.admit("c1", "search_knowledge", ARGUMENTS, speculate=True)
    await _settle()
    assert conversation.follow_ups.offer() is None
    assert conversation.follow_ups.adopted() == ()


async def test_cut_off_arguments_never_begin_a_search():
    backend = FakeBackend()
    conversation, ledger, _ = a_conversation(backend)
    generation = conversation.begin("g1", REFUND)
    generation.admit("c1", "search_knowledge", '{"queries": ["ref', speculate=True)
    await _settle()
    assert backend.requests == []
    assert ledger.refused == 1


async def test_no_other_tool_ever_begins_early():
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    generation = conversation.begin("g1", REFUND)
    assert generation.admit("c1", "transfer_call", ARGUMENTS, speculate=True)
    await _settle()
    assert backend.requests == []


async def test_a_tool_call_after_a_question_is_dropped():
    conversation, _, events = a_conversation()
    generation = conversation.begin("g1", REFUND)
    generation.text("Which card do you mean?")
    assert not generation.admit("c1", "transfer_call", "{}", speculate=True)
    assert events == [ToolCallSuppressed(generation.turn, "transfer_call", "after_question")]


async def test_the_next_search_follows_the_last_executed_one_once():
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    await conversation.search("c1", ["refund"], view=REFUND)
    await conversation.search("c2", ["how long"], view=REFUND)
    await conversation.search("c3", ["which card"], view=REFUND)
    follows = [(r.follows, r.pinned) for r in backend.requests]
    assert follows == [(None, ()), ("r-1", ("i-1",)), ("r-2", ("i-1",))]


async def test_a_search_without_results_is_not_followed_but_spends_the_pins():
    replies = [a_reply("r-1"), a_reply("r-2", "no_match", ()), a_reply("r-3")]
    backend = FakeBackend(reply=lambda number: replies[number - 1])
    conversation, _, _ = a_conversation(backend)
    for call in ("c1", "c2", "c3"):
        await conversation.search(call, ["refund"], view=REFUND)
    assert [r.follows for r in backend.requests] == [None, "r-1", None]


async def test_an_adopted_search_is_reported_with_the_next_request_and_once():
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    conversation.begin("g1", REFUND).admit("c1", "search_knowledge", ARGUMENTS, speculate=True)
    await _settle()
    await conversation.search("c1", ["refund"], view=REFUND)
    await conversation.search("c2", ["how long"], view=REFUND)
    await conversation.search("c3", ["which"], view=REFUND)
    assert [r.adopted for r in backend.requests] == [(), ("r-1",), ()]


async def test_the_end_of_the_call_reports_the_last_adoption():
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    conversation.begin("g1", REFUND).admit("c1", "search_knowledge", ARGUMENTS, speculate=True)
    await conversation.search("c1", ["refund"], view=REFUND)
    await conversation.end()
    assert backend.ended[0].adopted == ("r-1",)


async def test_only_the_first_call_of_a_generation_carries_the_pins():
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    await conversation.search("c0", ["start"], view=REFUND)
    generation = conversation.begin("g2", REFUND)
    for call, query in (("c1", "one"), ("c2", "two")):
        arguments = json.dumps({"queries": [query]})
        generation.admit(call, "search_knowledge", arguments, speculate=True)
    await _settle()
    assert [r.follows for r in backend.requests[1:]] == ["r-1", None]
    await conversation.search("c1", ["one"], view=REFUND)
    await conversation.search("c2", ["two"], view=REFUND)
    assert len(backend.requests) == 3


async def test_a_caller_who_speaks_first_ends_the_wait():
    backend = FakeBackend(delay=5)
    conversation, ledger, _ = a_conversation(backend)

    async def race(task):
        await asyncio.wait([task], timeout=0.02)

    outcome = await conversation.search("c1", ["refund"], view=REFUND, race=race)
    await _settle()
    assert (outcome.status, ledger.interrupted, backend.cancelled) == ("interrupted", 1, 1)


async def test_digits_in_queries_and_context_never_leave():
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    view = view_of("c:my reference is one two three four five")
    await conversation.search("c1", ["reference 12345"], view=view)
    sent = backend.requests[0].model_dump_json()
    assert "12345" not in sent
    assert "one two three" not in sent
    assert backend.requests[0].turn_context.structured_value_digits == 5


async def test_declared_product_codes_reach_the_search():
    backend = FakeBackend()
    session = an_open_session(code_patterns=("A ######",))
    conversation, _, _ = a_conversation(backend, session=session)
    await conversation.search("c1", ["X 123456 broken"], view=REFUND)
    assert backend.requests[0].queries[0] == "X 123456 broken"


async def test_a_search_that_breaks_is_unavailable_and_offers_the_fallback():
    class Broken(FakeBackend):
        async def search(self, session, request):
            raise RuntimeError("boom")

    conversation, _, _ = a_conversation(Broken())
    outcome = await conversation.search("c1", ["refund"], view=REFUND)
    assert outcome.status == "unavailable"
    assert "Offer a callback." in outcome.guidance


async def test_queries_of_the_wrong_shape_are_answered_with_what_is_needed():
    conversation, _, _ = a_conversation()
    outcome = await conversation.search("c1", [], view=REFUND)
    assert (outcome.status, outcome.required_input) == ("invalid_arguments", "queries")


async def test_a_new_turn_drops_the_early_searches_of_the_last_one():
    backend = FakeBackend(delay=5)
    conversation, ledger, _ = a_conversation(backend)
    conversation.begin("g1", REFUND).admit("c1", "search_knowledge", ARGUMENTS, speculate=True)
    await _settle()
    conversation.begin("g2", view_of("c:I want a refund", "a:Sure.", "c:how long does it take"))
    await _settle()
    assert (conversation.in_flight, backend.cancelled, ledger.wasted) == (0, 1, 1)


async def test_a_failing_listener_does_not_disturb_the_call():
    conversation, _, _ = a_conversation()

    def listener(_event):
        raise RuntimeError("listener")

    conversation.announcer.listen(listener)
    assert (await conversation.search("c1", ["refund"], view=REFUND)).status == "ok"


async def test_a_miss_tells_the_model_not_to_invent():
    reply = SearchReply(status="no_match", search="r-1", guidance="Nothing relevant was found.")
    conversation, _, _ = a_conversation(FakeBackend(reply=lambda _n: reply))
    outcome = json.loads((await conversation.search("c", ["x"], view=REFUND)).for_model())
    assert outcome["next_action"] == "offer_fallback"
    assert outcome["guidance"].startswith("Nothing relevant was found.")
