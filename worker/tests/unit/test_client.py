import asyncio
import json

import httpx
import pytest

from earmark_worker.client import VoiceClient
from earmark_worker.errors import BootstrapRefused, ContractMismatch, ServerNotReady
from earmark_worker.opening import CallDetails, open_conversation
from earmark_worker.settings import Settings
from earmark_worker.wire import Call, EndSession, OpenSession, RenewSession, SearchRequest
from tests.fakes.backend import a_reply, an_open_session

REQUEST = SearchRequest(organization="acme", agent="front-desk", queries=("refund",))
OPEN = OpenSession(organization="acme", agent="front-desk", call=Call(id="c-1"))


def a_client(handler, **options):
    transport = httpx.MockTransport(handler)
    return VoiceClient("http://server.test/", "kid.secret", transport=transport, **options)


def answering(status, body):
    def handler(request):
        handler.request = request
        return httpx.Response(status, **body)

    return handler


async def test_a_search_carries_key_contract_and_deadline():
    handler = answering(200, {"text": a_reply().model_dump_json()})
    reply = await a_client(handler).search("s-1", REQUEST)
    assert reply.status == "ok"
    assert handler.request.url.path == "/internal/voice/v1/sessions/s-1/tools/knowledge-search"
    assert handler.request.headers["Authorization"] == "Bearer kid.secret"
    assert handler.request.headers["X-Earmark-Contract"] == "1"
    assert handler.request.headers["X-Deadline-Ms"] == "6000"
    assert json.loads(handler.request.content)["queries"] == ["refund"]


@pytest.mark.parametrize("status", [503, 504])
async def test_the_envelope_of_a_failing_server_is_kept(status):
    body = {"status": "timeout", "search": "r", "guidance": "Do not invent.", "results": []}
    reply = await a_client(answering(status, {"json": body})).search("s-1", REQUEST)
    assert (reply.status, reply.guidance) == ("timeout", "Do not invent.")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (502, {"text": "<html>bad gateway</html>"}),
        (503, {"text": "no json"}),
        (200, {"json": {"status": "dancing"}}),
        (401, {"json": {"error": {"code": "unauthenticated", "message": ""}}}),
        (404, {"json": {"error": {"code": "not_found", "message": ""}}}),
        (400, {"json": {"error": {"code": "invalid", "message": ""}}}),
    ],
)
async def test_any_other_answer_is_unavailable_with_guidance(status, body):
    reply = await a_client(answering(status, body)).search("s-1", REQUEST)
    assert reply.status == "unavailable"
    assert reply.guidance


@pytest.mark.parametrize("error", [httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError])
async def test_a_broken_connection_is_unavailable_and_never_tried_again(error):
    calls = []

    def handler(request):
        calls.append(request)
        raise error("gone")

    reply = await a_client(handler).search("s-1", REQUEST)
    assert (reply.status, len(calls)) == ("unavailable", 1)


async def test_a_search_ends_at_its_deadline():
    async def handler(_request):
        await asyncio.sleep(5)

    client = a_client(handler, deadline=0.05)
    started = asyncio.get_running_loop().time()
    assert (await client.search("s-1", REQUEST)).status == "unavailable"
    assert asyncio.get_running_loop().time() - started < 1


async def test_a_session_is_opened_and_renewed():
    session = an_open_session()
    client = a_client(answering(201, {"text": session.model_dump_json()}))
    assert await client.open(OPEN) == session
    renewed = await client.renew("s-1", RenewSession(organization="acme", agent="a"))
    assert renewed.session == session.session


async def test_a_server_of_another_contract_is_told_apart():
    body = {"error": {"code": "contract_mismatch", "message": "serves 2"}}
    with pytest.raises(ContractMismatch):
        await a_client(answering(409, {"json": body})).open(OPEN)


@pytest.mark.parametrize("answer", [(404, {"json": {}}), (200, {"json": {}}), (200, {"text": "x"})])
async def test_a_session_that_cannot_be_opened_is_an_error_for_the_program(answer):
    with pytest.raises(BootstrapRefused):
        await a_client(answering(*answer)).open(OPEN)


async def test_the_end_of_a_session_never_raises():
    def handler(_request):
        raise httpx.ConnectError("gone")

    await a_client(handler).end("s-1", EndSession(organization="acme", agent="a"))


async def test_readiness_names_what_fails():
    with pytest.raises(ServerNotReady, match="migrations"):
        await a_client(answering(503, {"json": {"failing": "migrations"}})).ready()


async def test_a_contract_of_another_version_is_a_mismatch():
    with pytest.raises(ContractMismatch):
        await a_client(answering(200, {"json": {"version": 2, "hash": "x"}})).contract()


@pytest.mark.parametrize("version", [1, 2])
async def test_a_server_that_serves_this_version_beside_another_is_accepted(version):
    body = {"version": version, "hash": "x", "served": [1, 2]}
    assert (await a_client(answering(200, {"json": body})).contract()).served == (1, 2)


async def test_a_server_that_serves_this_version_no_more_is_a_mismatch():
    body = {"version": 2, "hash": "x", "served": [2, 3]}
    with pytest.raises(ContractMismatch, match="2, 3"):
        await a_client(answering(200, {"json": body})).contract()


async def test_a_call_whose_facts_no_server_takes_is_refused_by_the_names_of_its_fields():
    settings = Settings("http://server.test", "kid.secret", "acme", "front-desk")
    details = CallDetails(Call(id="c-1"), instructions=("x" * 65,), additions=("",))
    with pytest.raises(BootstrapRefused, match=r"additions, dynamic_instructions\.$"):
        await open_conversation(details, settings=settings)
