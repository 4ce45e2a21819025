import asyncio

from livekit.agents import function_tool

from earmark_worker.livekit import EarmarkAgent
from tests.fakes.backend import FakeBackend
from tests.fakes.livekit_fakes import call, text
from tests.livekit.harness import a_line, queries, until

SEARCH = [call("search_knowledge", queries("refund"))]
ANSWER = [text("Refunds take 5 days.")]


class WithTransfer(EarmarkAgent):
    def __init__(self, conversation):
        super().__init__(conversation)
        self.transferred = []

    @function_tool
    async def transfer_call(self, target: str) -> str:
        """Transfer the call."""
        self.transferred.append(target)
        return "done"


async def test_an_accepted_reply_uses_the_search_that_began_before_the_turn_ended():
    async with a_line(SEARCH, ANSWER) as line:
        line.start_speaking()
        await asyncio.sleep(0.05)
        line.stt.final("I want a refund")
        await until(lambda: line.backend.requests, what="the early search")
        assert line.executed == []
        assert line.caller_messages == []
        line.stop_speaking()
        await until(lambda: line.answers, what="the answer")
    assert len(line.backend.requests) == 1
    assert line.backend.requests[0].speculative is True
    assert (line.ledger.used, line.ledger.wasted) == (1, 0)
    assert line.ledger.won_ms[0] >= 0
    assert line.ledger.ready_before_ms[0] > 0
    assert line.answers == ["Refunds take 5 days."]


async def test_a_discarded_reply_changes_nothing_and_frees_its_slot():
    async with a_line(SEARCH, [text("Which card?")]) as line:
        line.start_speaking()
        line.stt.final("I want")
        await until(lambda: line.backend.answered, what="the early search")
        line.stt.final("a different thing altogether")
        await until(lambda: len(line.model.asked) == 2, what="the second attempt")
        assert line.agent.conversation.in_flight == 0
        assert line.agent.conversation.follow_ups.offer() is None
        assert line.executed == []
        line.stop_speaking()
        await until(lambda: line.answers, what="the answer")
        assert line.outputs == []
        assert line.caller_messages == ["I want a different thing altogether"]


async def test_a_search_of_a_discarded_reply_is_dropped_when_the_next_turn_begins():
    backend = FakeBackend(delay=30)
    async with a_line(SEARCH, [text("Sure.")], [text("Yes.")], backend=backend) as line:
        line.start_speaking()
        line.stt.final("I want")
        await until(lambda: backend.requests, what="the early search")
        line.stt.final("to say hello there")
        line.stop_speaking()
        await until(lambda: line.answers, what="the answer")
        await line.say("and now something else entirely")
        await until(lambda: backend.cancelled == 1, what="the search to be dropped")
        assert line.ledger.wasted == 1


async def test_a_regenerated_call_adopts_the_early_search_by_its_arguments():
    class Invalidates(EarmarkAgent):
        async def on_user_turn_completed(self, turn_ctx, new_message):
            turn_ctx.add_message(role="system", content="Loyal customer.")

    scripts = (SEARCH, [call("search_knowledge", queries("refund"), id="call-2")], ANSWER)
    async with a_line(*scripts, agent_class=Invalidates) as line:
        await line.say("I want a refund")
        await until(lambda: line.answers, what="the answer")
    assert len(line.model.asked) == 3
    assert len(line.backend.requests) == 1
    assert line.ledger.used == 1
    assert [e.regenerated for e in line.events if type(e).__name__ == "SpeculationUsed"] == [True]


async def test_more_than_three_searches_in_flight_are_refused_and_still_answered_later():
    calls = [call("search_knowledge", queries(f"question {n}"), id=f"c{n}") for n in range(4)]
    backend = FakeBackend(delay=1.0)
    async with a_line(calls, ANSWER, backend=backend) as line:
        line.start_speaking()
        line.stt.final("I have four questions")
        await until(lambda: line.ledger.refused == 1, what="the refusal")
        await until(lambda: len(backend.requests) == 3, what="three searches")
        line.stop_speaking()
        await until(lambda: line.answers, what="the answer")
    assert len(backend.requests) == 4
    assert [r.speculative for r in backend.requests] == [True, True, True, False]
    assert len(line.outputs) == 4


async def test_cut_off_arguments_are_never_searched_early_even_if_the_sdk_repairs_them():
    broken = '{"queries": ["refund"'
    async with a_line([call("search_knowledge", broken)], ANSWER) as line:
        line.start_speaking()
        line.stt.final("I want a refund")
        await until(lambda: line.ledger.refused, what="the refusal")
        assert line.backend.requests == []
        line.stop_speaking()
        await until(lambda: line.answers, what="the answer")
    assert [r.speculative for r in line.backend.requests] == [False]


async def test_a_tool_with_side_effects_waits_for_the_end_of_the_turn():
    scripts = ([call("transfer_call", '{"target": "billing"}')], [text("Goodbye.")])
    async with a_line(*scripts, agent_class=WithTransfer) as line:
        line.start_speaking()
        line.stt.final("transfer me to billing")
        await until(lambda: line.model.asked, what="the early reply")
        await asyncio.sleep(0.15)
        assert line.agent.transferred == []
        assert line.backend.requests == []
        line.stop_speaking()
        await until(lambda: line.answers, what="the answer")
        assert line.agent.transferred == ["billing"]


async def test_text_and_a_tool_call_in_one_chunk_are_both_used():
    chunk = call("search_knowledge", queries("refund"), content="Let me check.")
    async with a_line([chunk], ANSWER) as line:
        await line.say("I want a refund")
        await until(lambda: len(line.answers) == 2, what="both messages")
        assert "Let me check." in line.answers
        assert len(line.backend.requests) == 1


async def test_a_question_in_the_chunk_of_a_tool_call_drops_the_call():
    chunk = call("transfer_call", '{"target": "billing"}', content="Shall I transfer you?")
    async with a_line([chunk], agent_class=WithTransfer) as line:
        await line.say("I need somebody from billing")
        await until(lambda: line.answers, what="the question")
        await asyncio.sleep(0.1)
        assert line.agent.transferred == []
        assert line.ledger.suppressed == 1


async def test_the_context_in_the_request_leaves_the_early_reply_valid():
    async with a_line(SEARCH, ANSWER) as line:
        await line.say("my card is 4111 1111 1111 1111")
        await until(lambda: line.answers, what="the answer")
    assert len(line.model.asked) == 2
    sent = line.backend.requests[0].turn_context
    assert sent.utterance == "my card is [16-digit structured value]"
    assert sent.structured_value_digits == 16


async def test_the_attempt_limit_leaves_the_search_to_the_end_of_the_turn():
    scripts = [[text("Hm.")]] * 3 + [SEARCH, ANSWER]
    async with a_line(*scripts) as line:
        line.start_speaking()
        for part in ("I want", "to know", "about my", "late refund", "please"):
            line.stt.final(part)
            await asyncio.sleep(0.06)
        assert len(line.model.asked) == 3
        line.stop_speaking()
        await until(lambda: line.answers, what="the answer")
    assert [r.speculative for r in line.backend.requests] == [False]


async def test_a_stale_preflight_transcript_is_discarded_without_a_trace():
    async with a_line(SEARCH, [text("Hello.")], options={"turn_detection": "stt"}) as line:
        line.start_speaking()
        line.stt.preflight("I want a refund")
        await until(lambda: line.backend.answered, what="the early search")
        line.stt.interim("I want a refund, no, never mind that")
        await asyncio.sleep(0.1)
        assert line.executed == []
        assert line.agent.conversation.follow_ups.offer() is None


async def test_a_long_turn_falls_back_to_a_search_after_it():
    options = {"preemptive_generation": {"enabled": True, "max_speech_duration": 0.0}}
    async with a_line(SEARCH, ANSWER, options=options) as line:
        await line.say("I want a refund")
        await until(lambda: line.answers, what="the answer")
    assert [r.speculative for r in line.backend.requests] == [False]


async def test_a_handoff_is_not_held_up_by_a_reply_prepared_for_a_turn_that_goes_on():
    backend = FakeBackend(delay=30)
    async with a_line(SEARCH, [text("Hello from the other one.")], backend=backend) as line:
        line.start_speaking()
        line.stt.final("I want a refund")
        await until(lambda: backend.requests, what="the early search")
        line.session.update_agent(EarmarkAgent(line.agent.conversation))
        await until(lambda: backend.cancelled == 1, what="the early search to be dropped")
        await until(lambda: line.session.current_agent is not line.agent, what="the handoff")
        assert line.executed == []


async def test_the_forced_search_leaves_the_prepared_reply_valid():
    async with a_line(SEARCH, ANSWER) as line:
        await line.say("I want a refund")
        await until(lambda: line.answers, what="the answer")
    assert [asked.tool_choice for asked in line.model.asked] == [
        {"type": "function", "function": {"name": "search_knowledge"}},
        "auto",
    ]


async def test_without_the_private_name_of_the_sdk_every_search_still_happens_once(monkeypatch):
    monkeypatch.setattr("earmark_worker.adapters.livekit.speech._CURRENT", None)
    async with a_line(SEARCH, ANSWER) as line:
        await line.say("I want a refund")
        await until(lambda: line.answers, what="the answer")
    assert len(line.backend.requests) == 1
    assert line.ledger.used == 1
