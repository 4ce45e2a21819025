import asyncio
import json
from datetime import UTC, datetime

import httpx
import pytest
from aiohttp import web

from earmark_worker.__main__ import main
from earmark_worker.client import VoiceClient
from earmark_worker.console.agent import ConsoleAgent
from earmark_worker.console.models import ChatModel, Request, ScriptedModel, model_from
from earmark_worker.errors import ConfigurationMissing, ContractMismatch
from earmark_worker.preflight import preflight
from earmark_worker.scripted import Reply, read_out, scripted_reply
from earmark_worker.settings import Settings
from tests.fakes.backend import FakeBackend, a_conversation, a_reply, an_open_session, view_of


class Recording:
    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    async def reply(self, request):
        self.asked.append(request)
        return self.replies.pop(0)


def search(*texts):
    return Reply(tool="search_knowledge", arguments=json.dumps({"queries": list(texts)}))


async def test_a_typed_question_is_searched_and_read_out():
    backend = FakeBackend(reply=lambda _n: a_reply(ids=("i-1",)))
    conversation, _, _ = a_conversation(backend)
    exchange = await ConsoleAgent(conversation, ScriptedModel()).say("I want a refund")
    assert exchange.written == "Refunds take 5 days."
    assert exchange.searches[0]["status"] == "ok"


async def test_a_typed_courtesy_is_not_searched():
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend)
    exchange = await ConsoleAgent(conversation, ScriptedModel()).say("hello")
    assert (exchange.searches, backend.requests) == ((), [])


async def test_the_console_shows_what_a_voice_would_get():
    conversation, _, _ = a_conversation()
    exchange = await ConsoleAgent(conversation, Recording(Reply("Call 5551234."))).say("hello")
    assert exchange.spoken == "Call 5 5 5, 1 2 3 4."


async def test_a_model_is_forced_to_search_and_then_free():
    conversation, _, _ = a_conversation()
    model = Recording(search("refund"), Reply("Five days."))
    await ConsoleAgent(conversation, model).say("I want a refund")
    forced = {"type": "function", "function": {"name": "search_knowledge"}}
    assert [asked.tool_choice for asked in model.asked] == [forced, "auto"]


async def test_a_model_that_only_searches_is_stopped():
    conversation, ledger, _ = a_conversation()
    model = Recording(search("a"), search("b"), search("c"))
    exchange = await ConsoleAgent(conversation, model).say("I want a refund")
    assert (ledger.searches, exchange.written) == (2, "")
    assert model.asked[-1].tool_choice == "none"


async def test_a_search_after_a_question_is_dropped():
    conversation, ledger, _ = a_conversation()
    asking = Reply("Which card?", tool="search_knowledge", arguments='{"queries": ["x"]}')
    exchange = await ConsoleAgent(conversation, Recording(asking)).say("my card")
    assert (exchange.written, ledger.searches) == ("Which card?", 0)


def test_the_scripted_model_reads_guidance_when_nothing_was_found():
    assert read_out('{"status": "no_match", "guidance": "Offer a callback."}') == (
        "Offer a callback."
    )
    assert read_out("not json") == "not json"
    assert scripted_reply(view_of()).text


def test_the_environment_chooses_the_model():
    assert isinstance(model_from({}), ScriptedModel)
    assert isinstance(model_from({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}), ChatModel)
    assert isinstance(model_from({"OPENAI_API_KEY": "k"}), ChatModel)


async def test_any_openai_compatible_server_can_be_asked():
    function = {"name": "search_knowledge", "arguments": '{"queries": ["x"]}'}
    answers = [{"content": None, "tool_calls": [{"function": function}]}, {"content": "Hi."}]

    async def chat(request):
        body = await request.json()
        assert body["model"] == "m"
        return web.json_response({"choices": [{"message": answers.pop(0)}]})

    async with _served({("POST", "/v1/chat/completions"): chat}) as url:
        model = ChatModel(f"{url}/v1", "k", "m")
        asked = Request([{"role": "user", "content": "x"}], view_of("c:x"))
        assert (await model.reply(asked)).tool == "search_knowledge"
        assert (await model.reply(asked)).text == "Hi."


def test_settings_name_every_variable_that_is_missing():
    with pytest.raises(ConfigurationMissing, match="EARMARK_URL, EARMARK_AGENT"):
        Settings.read({"EARMARK_SERVICE_KEY": "k", "EARMARK_ORGANIZATION": "acme"})


def answering(contract, ready=200):
    def handler(request):
        if request.url.path.endswith("/contract"):
            return httpx.Response(200, json=contract)
        return httpx.Response(ready, json={"failing": "database"})

    return VoiceClient("http://server.test", "", transport=httpx.MockTransport(handler))


async def test_preflight_passes_against_a_ready_server():
    found = await preflight(answering({"version": 1, "hash": "h", "oldest_worker": "0.1.0"}))
    assert found[-1] == "ready"


async def test_preflight_fails_when_this_worker_is_too_old():
    with pytest.raises(ContractMismatch, match=r"99\.0"):
        await preflight(answering({"version": 1, "hash": "h", "oldest_worker": "99.0"}))


def _served(routes):
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def served():
        app = web.Application()
        for (method, path), handler in routes.items():
            app.router.add_route(method, path, handler)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            await runner.cleanup()

    return served()


def test_the_preflight_command_exits_with_one_when_nobody_answers(capsys):
    assert main(["preflight", "--url", "http://127.0.0.1:9"]) == 1
    assert "server_not_ready" in capsys.readouterr().err


async def test_the_preflight_command_exits_with_zero_when_all_is_well(capsys):
    async def contract(_request):
        return web.json_response({"version": 1, "hash": "sha256:0", "oldest_worker": "0.1.0"})

    async def ready(request):
        assert request.query["version"] == "1"
        return web.json_response({"ready": True, "version": 1, "checks": []})

    base = "/internal/voice/v1"
    routes = {("GET", f"{base}/contract"): contract, ("GET", f"{base}/ready"): ready}
    async with _served(routes) as url:
        code = await asyncio.to_thread(main, ["preflight", "--url", url])
    assert code == 0
    assert "ready" in capsys.readouterr().out


def test_the_console_command_exits_with_one_for_a_value_that_no_server_takes(capsys):
    assert main(["console", "--country", "Arabia"]) == 1
    assert "country" in capsys.readouterr().err


async def test_the_console_command_talks_to_a_server(monkeypatch, capsys):
    async def sessions(request):
        body = await request.json()
        assert body["call"]["language"] == "en"
        session = an_open_session(expires_at=datetime(2030, 1, 1, tzinfo=UTC))
        return web.Response(text=session.model_dump_json(), status=201)

    async def found(_request):
        return web.Response(text=a_reply().model_dump_json())

    async def end(_request):
        return web.json_response({"session": "s-1", "ended_at": "2026-01-01T00:00:00Z"})

    base = "/internal/voice/v1/sessions"
    routes = {
        ("POST", base): sessions,
        ("POST", f"{base}/s-1/tools/knowledge-search"): found,
        ("POST", f"{base}/s-1/end"): end,
    }
    typed = iter(["I want a refund", ""])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(typed))
    for name, value in (("ORGANIZATION", "acme"), ("AGENT", "a"), ("SERVICE_KEY", "k.s")):
        monkeypatch.setenv(f"EARMARK_{name}", value)
    monkeypatch.delenv("OPENAI_API_KEY")
    async with _served(routes) as url:
        monkeypatch.setenv("EARMARK_URL", url)
        code = await asyncio.to_thread(main, ["console", "--language", "en"])
    assert code == 0
    assert "agent> Refunds take 5 days." in capsys.readouterr().out
