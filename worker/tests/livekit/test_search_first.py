import asyncio
import json

import pytest
from livekit.agents import ModelSettings, llm

from earmark_worker.livekit import EarmarkAgent
from tests.fakes.backend import FakeBackend
from tests.fakes.livekit_fakes import call, text
from tests.livekit.harness import a_text_line, queries, until

FORCED = {"type": "function", "function": {"name": "search_knowledge"}}
SEARCH = [call("search_knowledge", queries("refund"))]
ANSWER = [text("Refunds take 5 days.")]


async def test_a_question_is_searched_before_it_is_answered():
    async with a_text_line(SEARCH, ANSWER) as line:
        result = await line.session.run(user_input="I want a refund")
        result.expect.next_event().is_function_call(name="search_knowledge")
        result.expect.next_event().is_function_call_output(is_error=False)
        result.expect.next_event().is_message(role="assistant")
        result.expect.no_more_events()
    assert [asked.tool_choice for asked in line.model.asked] == [FORCED, "auto"]


@pytest.mark.parametrize("said", ["hello", "yes, thanks", "goodbye", "5", "好的", "شكرا"])
async def test_a_courtesy_is_not_forced_to_search(said):
    async with a_text_line([text("Hello!")]) as line:
        await line.session.run(user_input=said)
    assert line.model.asked[0].tool_choice != FORCED
    assert line.backend.requests == []


async def test_a_tool_choice_of_none_is_never_overridden():
    async with a_text_line([text("No tools.")]) as line:
        handle = line.session.generate_reply(user_input="I want a refund", tool_choice="none")
        await handle
    assert line.model.asked[0].tool_choice == "none"


async def test_an_agent_without_the_tool_is_not_forced():
    async with a_text_line(ANSWER) as line:
        chat_ctx = llm.ChatContext.empty()
        chat_ctx.add_message(role="user", content="I want a refund")
        node = line.agent.llm_node(chat_ctx, [], ModelSettings())
        assert [chunk async for chunk in node]
    assert line.model.asked[0].tool_choice != FORCED


async def test_an_idle_prompt_after_an_answer_does_not_search_for_the_old_turn():
    async with a_text_line(SEARCH, ANSWER, [text("Are you still there?")]) as line:
        await line.session.run(user_input="I want a refund")
        await line.session.generate_reply(instructions="Ask whether the caller is still there.")
    assert line.model.asked[-1].tool_choice != FORCED
    assert len(line.backend.requests) == 1


async def test_a_stand_in_for_a_running_tool_is_no_result():
    async with a_text_line(ANSWER) as line:
        chat_ctx = llm.ChatContext.empty()
        chat_ctx.add_message(role="user", content="I want a refund")
        running = llm.FunctionCall(
            call_id="c9",
            name="search_knowledge",
            arguments="{}",
            extra={"__lk_running_placeholder__": True},
        )
        stand_in = llm.FunctionCallOutput(
            call_id="c9",
            name="search_knowledge",
            output="The tool call is still in progress.",
            is_error=False,
        )
        chat_ctx.insert([running, stand_in])
        node = line.agent.llm_node(chat_ctx, line.agent.tools, ModelSettings())
        assert [chunk async for chunk in node]
    assert line.model.asked[0].tool_choice == FORCED


async def test_the_result_reaches_the_model_as_json():
    async with a_text_line(SEARCH, ANSWER) as line:
        await line.session.run(user_input="I want a refund")
        shown = json.loads(line.outputs[0])
    assert shown["status"] == "ok"
    assert shown["results"][0]["content"] == "Refunds take 5 days."


async def test_the_call_id_seen_in_the_stream_is_the_one_that_is_executed():
    async with a_text_line(SEARCH, ANSWER) as line:
        await line.session.run(user_input="I want a refund")
        executed = [i.call_id for i in line.history if i.type == "function_call"]
    assert executed == ["call-1"]


@pytest.mark.parametrize("texts", [[], ["a", "b", "c", "d", "e"]])
async def test_none_or_five_queries_are_sent_back_to_the_model(texts):
    async with a_text_line([call("search_knowledge", queries(*texts))], ANSWER) as line:
        await line.session.run(user_input="I want a refund")
        assert json.loads(line.outputs[0])["status"] == "invalid_arguments"
    assert line.backend.requests == []


async def test_the_schema_of_the_server_reaches_the_model():
    async with a_text_line(SEARCH, ANSWER) as line:
        await line.session.run(user_input="I want a refund")
    tool = llm.ToolContext(line.model.asked[0].tools).function_tools["search_knowledge"]
    schema = tool.info.raw_schema["parameters"]["properties"]["queries"]
    assert (schema["minItems"], schema["maxItems"]) == (1, 4)


async def test_an_authorised_search_starts_while_the_model_still_writes():
    slow = [*SEARCH, text("", after=0.5)]
    async with a_text_line(slow, ANSWER) as line:
        run = asyncio.ensure_future(_run(line))
        await until(lambda: line.backend.answered, seconds=0.4, what="the search")
        assert not run.done()
        await run
    assert [r.speculative for r in line.backend.requests] == [False]


async def _run(line):
    return await line.session.run(user_input="I want a refund")


async def test_an_unavailable_server_gives_guidance_and_no_exception():
    def reply(_number):
        raise RuntimeError("down")

    async with a_text_line(SEARCH, ANSWER, backend=FakeBackend(reply=reply)) as line:
        result = await line.session.run(user_input="I want a refund")
        result.expect.contains_function_call_output(is_error=False)
        assert json.loads(line.outputs[0])["status"] == "unavailable"


async def test_keys_typed_by_the_caller_are_a_turn_without_a_search():
    async with a_text_line([text("Thank you.")]) as line:
        await line.session.generate_reply(user_input="2")
    assert line.backend.requests == []


async def test_typed_keys_of_a_long_reference_are_searched():
    async with a_text_line(SEARCH, ANSWER) as line:
        await line.session.generate_reply(user_input="12345678")
    assert line.backend.requests[0].turn_context.structured_value_digits == 8
    assert "12345678" not in line.backend.requests[0].model_dump_json()


async def test_closing_the_session_ends_it_on_the_server_once():
    async with a_text_line(SEARCH, ANSWER) as line:
        await line.session.run(user_input="I want a refund")
    await until(lambda: line.backend.ended, what="the end")
    await line.agent.conversation.end()
    assert len(line.backend.ended) == 1


async def test_a_handoff_drops_early_searches_but_keeps_the_call():
    async with a_text_line(SEARCH, ANSWER, SEARCH, ANSWER) as line:
        await line.session.run(user_input="I want a refund")
        line.session.update_agent(EarmarkAgent(line.agent.conversation))
        await asyncio.sleep(0.1)
        await line.session.run(user_input="how long does it take")
    assert [r.follows for r in line.backend.requests] == [None, "r-1"]


async def test_the_model_gets_the_prompt_of_the_server_then_your_own_words():
    async with a_text_line([text("Hi.")], instructions="Be brief.") as line:
        await line.session.run(user_input="hello")
    system = line.model.asked[0].chat_ctx.items[0].text_content
    assert system == "You answer for Acme.\n\nBe brief."
