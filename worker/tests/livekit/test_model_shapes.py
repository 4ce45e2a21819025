import pytest
from livekit.agents import Agent, AgentSession
from livekit.plugins import openai

from earmark_worker.livekit import EarmarkAgent
from tests.fakes.backend import FakeBackend, a_conversation
from tests.fakes.openai_server import an_openai_server
from tests.livekit.harness import queries

CHAT = {"type": "function", "function": {"name": "search_knowledge"}}
RESPONSES = {"type": "function", "name": "search_knowledge"}
CALLS = {"calls": [("search_knowledge", queries("refund"))]}
TEXT = {"text": "Refunds take 5 days."}


def a_chat_model(url):
    return openai.LLM(model="gpt-4.1", base_url=url, api_key="test")


def a_responses_model(url):
    return openai.responses.LLM(model="gpt-4.1", base_url=url, api_key="test", use_websocket=False)


MODELS = [(a_chat_model, CHAT), (a_responses_model, RESPONSES)]


class Watching(EarmarkAgent):
    def __init__(self, conversation):
        super().__init__(conversation)
        self.calls_seen = []

    async def llm_node(self, chat_ctx, tools, model_settings):
        async for chunk in super().llm_node(chat_ctx, tools, model_settings):
            if not isinstance(chunk, str) and chunk.delta and chunk.delta.tool_calls:
                self.calls_seen.append([c.arguments for c in chunk.delta.tool_calls])
            yield chunk


async def _talk(url, make, said):
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    agent = Watching(conversation)
    async with AgentSession(
        llm=make(url), vad=None, turn_handling={"turn_detection": "manual"}
    ) as session:
        await session.start(agent)
        result = await session.run(user_input=said)
    return result, agent, backend


@pytest.mark.parametrize(("make", "shape"), MODELS)
async def test_the_forced_search_has_the_shape_of_the_api(make, shape):
    async with an_openai_server(CALLS, TEXT) as server:
        result, _, backend = await _talk(server.url, make, "I want a refund")
        assert server.requests[0]["tool_choice"] == shape
        assert server.requests[1]["tool_choice"] == "auto"
        assert len(backend.requests) == 1
        result.expect.contains_message(role="assistant")


@pytest.mark.parametrize(("make", "shape"), MODELS)
async def test_a_courtesy_sends_no_tool_choice(make, shape):
    async with an_openai_server(TEXT) as server:
        await _talk(server.url, make, "hello")
        assert server.requests[0].get("tool_choice") != shape


@pytest.mark.parametrize(("make", "shape"), MODELS)
async def test_arguments_streamed_in_pieces_arrive_whole(make, shape):
    async with an_openai_server(CALLS, TEXT) as server:
        _, agent, _ = await _talk(server.url, make, "I want a refund")
        assert agent.calls_seen == [[queries("refund")]]


@pytest.mark.parametrize(("make", "shape"), MODELS)
async def test_the_tool_schema_of_the_server_is_offered(make, shape):
    async with an_openai_server(CALLS, TEXT) as server:
        await _talk(server.url, make, "I want a refund")
        tool = server.requests[0]["tools"][0]
        parameters = tool.get("function", tool)["parameters"]
        assert parameters["properties"]["queries"]["maxItems"] == 4


def test_the_private_name_that_tells_the_speech_is_still_there():
    from earmark_worker.adapters.livekit import speech

    assert speech._CURRENT is not None


def test_the_agent_is_an_agent_like_any_other():
    assert issubclass(EarmarkAgent, Agent)
