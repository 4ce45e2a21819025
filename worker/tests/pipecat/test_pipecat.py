import json

import pytest
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    FunctionCallsStartedFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.openai.responses.llm import OpenAIResponsesHttpLLMService
from pipecat.tests.utils import SleepFrame, run_test

from earmark_worker.adapters.pipecat.history import turn_view
from earmark_worker.pipecat import EarmarkMixin, EarmarkResponsesMixin, call_context, speakable
from earmark_worker.turn_policy import needs_search
from tests.fakes.backend import FakeBackend, a_conversation
from tests.fakes.openai_server import an_openai_server
from tests.livekit.harness import queries, until

CALLS = {"calls": [("search_knowledge", queries("refund"))]}
TEXT = {"text": "Refunds take 5 days."}
TRANSFER = FunctionSchema("transfer_call", "Transfer the call.", {}, [])


class ChatModel(EarmarkMixin, OpenAILLMService):
    pass


class ResponsesModel(EarmarkResponsesMixin, OpenAIResponsesHttpLLMService):
    pass


def a_model(url, cls=ChatModel):
    return cls(api_key="test", base_url=url, settings=cls.Settings(model="gpt-4.1"))


def a_context(conversation, *said, tools=()):
    context = call_context(conversation, *tools)
    for text in said:
        context.add_message({"role": "user", "content": text})
    return context


async def _run(model, context, *frames):
    pair = LLMContextAggregatorPair(context)
    pipeline = Pipeline([model, pair.assistant()])
    down, up = await run_test(
        pipeline, frames_to_send=[*frames, SleepFrame(sleep=0.6)], start_timeout=5.0
    )
    return [*down, *up]


@pytest.mark.parametrize(
    ("cls", "shape"),
    [
        (ChatModel, {"type": "function", "function": {"name": "search_knowledge"}}),
        (ResponsesModel, {"type": "function", "name": "search_knowledge"}),
    ],
)
async def test_a_question_is_searched_before_it_is_answered(cls, shape):
    backend = FakeBackend()
    conversation, ledger, _ = a_conversation(backend)
    async with an_openai_server(CALLS, TEXT) as server:
        context = a_context(conversation, "I want a refund")
        model = a_model(server.url, cls).attach(conversation)
        await _run(model, context, LLMContextFrame(context))
        assert server.requests[0]["tool_choice"] == shape
        assert server.requests[1].get("tool_choice") in (None, "auto")
        assert "You answer for Acme." in json.dumps(server.requests[0])
    assert len(backend.requests) == 1
    outputs = [m["content"] for m in context.get_messages() if m.get("role") == "tool"]
    assert json.loads(outputs[0])["status"] == "ok"
    assert ledger.searches == 1


async def test_a_courtesy_is_not_forced():
    conversation, _, _ = a_conversation()
    async with an_openai_server(TEXT) as server:
        context = a_context(conversation, "hello")
        await _run(a_model(server.url).attach(conversation), context, LLMContextFrame(context))
        assert server.requests[0].get("tool_choice") in (None, "auto")


async def test_an_eager_reply_begins_the_search_and_the_confirmed_one_takes_it_over():
    backend = FakeBackend()
    conversation, ledger, events = a_conversation(backend)
    async with an_openai_server(CALLS, CALLS, TEXT) as server:
        context = a_context(conversation, "I want a refund")
        provisional = a_context(conversation, "i want a refund")
        frames = await _run(
            a_model(server.url).attach(conversation),
            context,
            LLMContextFrame(provisional, speculation=True),
            SleepFrame(sleep=0.4),
            LLMContextFrame(context),
        )
    assert any(isinstance(frame, EagerEndOfTurnCancelFrame) for frame in frames)
    assert [r.speculative for r in backend.requests] == [True]
    assert (ledger.started, ledger.used) == (1, 1)
    assert [e.regenerated for e in events if type(e).__name__ == "SpeculationUsed"] == [True]


async def test_an_eager_reply_never_runs_a_tool_with_side_effects():
    transferred = []
    conversation, _, _ = a_conversation()

    async def transfer(params):
        transferred.append(params.tool_call_id)
        await params.result_callback({"status": "done"})

    async with an_openai_server({"calls": [("transfer_call", "{}")]}) as server:
        context = a_context(conversation, "transfer me now", tools=(TRANSFER,))
        model = a_model(server.url).attach(conversation)
        model.register_function("transfer_call", transfer)
        await _run(model, context, LLMContextFrame(context, speculation=True))
    assert transferred == []


async def test_a_tool_call_after_a_question_waits_for_the_caller():
    conversation, ledger, _ = a_conversation()
    reply = {"text": "Shall I transfer you?", "calls": [("transfer_call", "{}")]}
    async with an_openai_server(reply) as server:
        context = a_context(conversation, "I need somebody from billing", tools=(TRANSFER,))
        model = a_model(server.url).attach(conversation)
        frames = await _run(model, context, LLMContextFrame(context))
    assert ledger.suppressed == 1
    assert not any(isinstance(frame, FunctionCallsStartedFrame) for frame in frames)


async def test_a_caller_who_interrupts_ends_the_search():
    backend = FakeBackend(delay=5)
    conversation, _, _ = a_conversation(backend)
    async with an_openai_server(CALLS, TEXT) as server:
        context = a_context(conversation, "I want a refund")
        model = a_model(server.url).attach(conversation)
        await _run(
            model,
            context,
            LLMContextFrame(context),
            SleepFrame(sleep=0.5),
            InterruptionFrame(),
        )
    await until(lambda: backend.cancelled == 1, what="the search to end")


async def test_the_context_keeps_its_own_tool_choice():
    conversation, _, _ = a_conversation()
    async with an_openai_server(TEXT) as server:
        context = a_context(conversation, "I want a refund")
        context.set_tool_choice("none")
        await _run(a_model(server.url).attach(conversation), context, LLMContextFrame(context))
        assert server.requests[0]["tool_choice"] == "none"
    assert context.tool_choice == "none"


async def test_the_end_of_the_pipeline_ends_the_call():
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    async with an_openai_server(TEXT) as server:
        context = a_context(conversation, "hello")
        await _run(a_model(server.url).attach(conversation), context, LLMContextFrame(context))
    assert len(backend.ended) == 1


async def test_text_reaches_the_voice_unchanged_by_the_watching():
    conversation, _, _ = a_conversation()
    async with an_openai_server(TEXT) as server:
        context = a_context(conversation, "hello")
        model = a_model(server.url).attach(conversation)
        down, _ = await run_test(
            model,
            frames_to_send=[LLMContextFrame(context), SleepFrame(sleep=0.3)],
            start_timeout=5.0,
        )
    said = "".join(frame.text for frame in down if isinstance(frame, LLMTextFrame))
    assert said == "Refunds take 5 days."


async def test_a_model_without_a_conversation_works_as_before():
    async with an_openai_server(TEXT) as server:
        context = LLMContext(messages=[{"role": "user", "content": "I want a refund"}])
        down, _ = await run_test(
            a_model(server.url),
            frames_to_send=[LLMContextFrame(context), SleepFrame(sleep=0.3)],
            start_timeout=5.0,
        )
    assert any(isinstance(frame, LLMTextFrame) for frame in down)


def test_a_tool_that_still_runs_is_no_result():
    view = turn_view(
        [
            {"role": "user", "content": "I want a refund"},
            {"role": "assistant", "tool_calls": [{"id": "1"}]},
            {"role": "tool", "content": "IN_PROGRESS", "tool_call_id": "1"},
        ]
    )
    assert needs_search(view)


def test_content_in_parts_is_read():
    view = turn_view([{"role": "user", "content": [{"type": "text", "text": "a refund"}]}])
    assert view.caller_texts == ("a refund",)


async def test_the_voice_gets_speakable_text():
    assert await speakable("en")("Call 5551234, 5% off.", "sentence") == (
        "Call 5 5 5, 1 2 3 4, 5 percent off."
    )
