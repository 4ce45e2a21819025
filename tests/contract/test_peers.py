"""What other products send and expect, as they publish it, against the doors that are made for them.

Sources: docs.dify.ai "External Knowledge API"; docs.vapi.ai "Custom knowledge base"; the function tools
of OpenAI's chat completions; the Model Context Protocol's own client.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from io import StringIO

import anyio
import pytest
from django import db
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from jsonschema import Draft202012Validator
from mcp import Client as McpClient
from mcp import StdioServerParameters

from config.private import ROOT
from knowledge.errors import EmbeddingUnavailable
from knowledge.models import SearchRecord
from knowledge.retrieval.siblings import ASK_WHICH
from tenants.keys import revoke_key, signing_secret
from tenants.models import ServiceKey
from tests.embedders import CountingEmbedder
from tests.processes import product_environment
from tests.voice import exhaust, names, runtime
from tests.world import BY, world
from voiceapi.models import VoiceSession
from voiceapi.peers.asking import named_by
from voiceapi.peers.mcp_server import Desk, note_of, server_for
from voiceapi.tool import TOOL

pytestmark = pytest.mark.django_db
HOURS = "When does the pelican lounge open?"
DIFY_RECORDS = {
    "type": "object",
    "required": ["records"],
    "properties": {
        "records": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["content", "score", "title"],
                "properties": {
                    "content": {"type": "string"},
                    "score": {"type": "number", "minimum": 0, "maximum": 1},
                    "title": {"type": "string"},
                    # A null here breaks Dify's own pipeline.
                    "metadata": {"type": "object"},
                },
            },
        }
    },
}
DIFY_ERROR = {
    "type": "object",
    "required": ["error_code", "error_msg"],
    "properties": {"error_code": {"type": "integer"}, "error_msg": {"type": "string"}},
}
VAPI_DOCUMENTS = {
    "type": "object",
    "required": ["documents"],
    "properties": {
        "documents": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["content", "similarity"],
                "properties": {
                    "content": {"type": "string"},
                    "similarity": {"type": "number", "minimum": 0, "maximum": 1},
                    "uuid": {"type": "string"},
                },
            },
        }
    },
}
OPENAI_TOOL = {
    "type": "object",
    "required": ["type", "function"],
    "additionalProperties": False,
    "properties": {
        "type": {"const": "function"},
        "function": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"},
                "description": {"type": "string"},
                "parameters": {"type": "object", "required": ["type", "properties"]},
                "strict": {"type": "boolean"},
            },
        },
    },
}


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    made = CountingEmbedder()
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: made)
    return made


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


def kid_of(voice):
    return voice.token.partition(".")[0]


def fits(schema, value):
    Draft202012Validator(schema).validate(value)
    return value


def heard(here, voice, query=HOURS):
    session = voice.session(here.receptionist)
    return voice.search(here.receptionist, session, query).json()


def dify(voice, *, authorization=None, **changed):
    sent = {
        "knowledge_id": "acme/receptionist",
        "query": HOURS,
        "retrieval_setting": {"top_k": 2, "score_threshold": 0.0},
    } | changed
    return Client().post(
        "/integrations/dify/retrieval",
        json.dumps(sent),
        content_type="application/json",
        headers={"Authorization": authorization or f"Bearer {voice.token}"},
    )


def vapi_body(*said, **message):
    messages = [{"role": "user", "content": text} for text in said]
    return {"message": {"type": "knowledge-base-request", "messages": messages, **message}}


def vapi(voice, body, *, agent="acme/receptionist", signature=None, kid=None):
    raw = json.dumps(body).encode()
    kid = kid or kid_of(voice)
    digest = hmac.new(signing_secret(kid).encode(), raw, hashlib.sha256).hexdigest()
    return Client().post(
        f"/integrations/vapi/{kid}/{agent}",
        raw,
        content_type="application/json",
        headers={"X-Vapi-Signature": f"sha256={digest}" if signature is None else signature},
    )


def test_dify_is_told_what_the_voice_api_tells(here, voice):
    records = fits(DIFY_RECORDS, dify(voice).json())["records"]
    told = heard(here, voice)["results"]
    assert [(r["title"], r["content"]) for r in records] == [
        (r["title"], r["content"]) for r in told
    ]


def test_the_score_for_dify_is_the_calibrated_relevance(here, voice):
    (record,) = dify(voice).json()["records"]
    with here.acme.context():
        (result,) = SearchRecord.objects.get(door="dify").results
    assert record["score"] == result["relevance"]


def test_dify_asks_for_a_threshold_and_gets_it(voice):
    (record,) = dify(voice).json()["records"]
    above = {"top_k": 2, "score_threshold": min(1.0, record["score"] + 0.001)}
    assert len(dify(voice, retrieval_setting=above).json()["records"]) == (record["score"] == 1.0)


def test_dify_hears_of_nothing_as_no_records(voice):
    assert dify(voice, query="zebra crossings").json() == {"records": []}
    assert dify(voice, query="  ").json() == {"records": []}


def test_a_condition_that_would_narrow_is_refused_and_not_ignored(voice):
    condition = {"conditions": [{"name": ["a"], "comparison_operator": "is", "value": "b"}]}
    refused = dify(voice, metadata_condition=condition)
    assert refused.status_code == 400
    fits(DIFY_ERROR, refused.json())
    assert dify(voice, metadata_condition={"conditions": []}).status_code == 200
    assert dify(voice, metadata_condition=None).status_code == 200


@pytest.mark.parametrize(
    ("authorization", "code"), [("Basic abc", 1001), ("Bearer unknown.key", 1002)]
)
def test_dify_is_refused_in_its_own_codes(voice, authorization, code):
    refused = dify(voice, authorization=authorization)
    assert (refused.status_code, fits(DIFY_ERROR, refused.json())["error_code"]) == (403, code)


@pytest.mark.parametrize(
    "knowledge_id", ["acme/nobody", "globex/rival", "nowhere/rival", "acme", "/", "acme/"]
)
def test_a_foreign_knowledge_base_and_a_missing_one_are_the_same_to_dify(voice, knowledge_id):
    refused = dify(voice, knowledge_id=knowledge_id)
    assert refused.status_code == 404
    assert refused.json() == {"error_code": 2001, "error_msg": "There is nothing here."}


def test_dify_is_told_when_the_search_could_not_be_made(voice, embedder):
    def fail(_texts):
        raise EmbeddingUnavailable

    embedder.before = fail
    refused = dify(voice, query="zebra crossings")
    assert refused.status_code == 503
    fits(DIFY_ERROR, refused.json())


def test_a_query_longer_than_one_may_be_is_cut(voice):
    assert dify(voice, query=HOURS + " and more" * 500).status_code == 200


def test_vapi_is_told_what_the_voice_api_tells(here, voice):
    documents = fits(VAPI_DOCUMENTS, vapi(voice, vapi_body(HOURS)).json())["documents"]
    told = heard(here, voice)["results"]
    assert [(d["uuid"], d["content"]) for d in documents] == [
        (r["id"], f"{r['title']}\n\n{r['content']}") for r in told
    ]


FEES = "What are the card fees?"


@pytest.fixture
def editions(here):
    """One guide for two cards, of which the caller named none."""
    for card in ("Voyager", "Nomad"):
        name, said = f"Fees of the {card} card", f"It costs {len(card)} dirhams in card fees."
        here.acme.item(name, said, folder="public/hours")


@pytest.mark.usefixtures("editions")
def test_two_editions_of_a_guide_are_told_apart_and_asked_about_at_vapi(voice):
    documents = fits(VAPI_DOCUMENTS, vapi(voice, vapi_body(FEES)).json())["documents"]
    first, second = (document["content"] for document in documents)
    assert first.startswith(f"{ASK_WHICH}\n\n")
    titles = [first.split("\n\n")[1], second.split("\n\n")[0]]
    assert sorted(titles) == ["Fees of the Nomad card", "Fees of the Voyager card"]


@pytest.mark.usefixtures("editions")
def test_dify_is_given_the_guidance_with_each_record(voice):
    records = fits(DIFY_RECORDS, dify(voice, query=FEES).json())["records"]
    assert [record["metadata"]["guidance"] for record in records] == [ASK_WHICH] * 2


def test_where_there_is_no_guidance_dify_is_given_none_and_no_null(voice):
    (record,) = dify(voice).json()["records"]
    assert record["metadata"]["guidance"] == ""


def test_vapi_asks_with_what_the_caller_said_last(here, voice):
    body = vapi_body("zebra crossings", HOURS)
    body["message"]["messages"].append({"role": "assistant", "content": "One moment."})
    vapi(voice, body)
    with here.acme.context():
        assert SearchRecord.objects.get(door="vapi").queries == [HOURS]


def test_one_call_at_vapi_is_one_session(here, voice):
    here.acme.contact("crm-1")
    call = {
        "id": "v-1",
        "customer": {"externalId": "crm-1", "number": "+1"},
        "deep": [[[[[[[[1]]]]]]]],
    }
    for _ in range(2):
        vapi(voice, vapi_body(HOURS, call=call, timestamp=1.5))
    vapi(voice, vapi_body(HOURS, call={"id": "v-2"}))
    with here.acme.context():
        first = VoiceSession.objects.select_related("contact").get(call_id="v-1")
        assert (str(first.contact), first.channel) == ("crm-1", "phone")
        assert VoiceSession.objects.count() == 2
        assert SearchRecord.objects.filter(session_id=first.pk).count() == 2


@pytest.mark.parametrize("call", [{}, {"id": 7}, {"id": "v-1"}])
def test_one_customer_at_vapi_is_never_answered_with_what_another_may_hear(here, voice, call):
    gold = here.acme.segment("gold")
    here.acme.contact("crm-1", gold)
    here.acme.contact("crm-2")
    here.acme.change_item(here.opening_hours, segment_restricted=True, segments=[gold.pk])
    for contact, found in (("crm-1", 1), ("crm-2", 0), (None, 0), ("crm-1", 1)):
        customer = {"customer": {"externalId": contact}}
        told = vapi(voice, vapi_body(HOURS, call=call | customer)).json()["documents"]
        assert len(told) == found, contact


def test_a_customer_whom_nobody_knows_keeps_one_session(here, voice):
    for _ in range(2):
        vapi(voice, vapi_body(HOURS, call={"id": "v-1", "customer": {"externalId": "crm-9"}}))
    with here.acme.context():
        assert VoiceSession.objects.get().contact is None


def test_a_chat_does_not_go_on_in_the_session_of_a_call(here, voice):
    for message in ({"call": {"id": "v-1"}}, {"chat": {"id": "v-1"}}):
        vapi(voice, vapi_body(HOURS, **message))
    with here.acme.context():
        channels = VoiceSession.objects.values_list("channel", flat=True)
        assert sorted(channels) == ["chat", "phone"]


@pytest.mark.parametrize(
    ("signature", "kid"), [("", None), ("sha256=" + "0" * 64, None), ("é", None), (None, "ek_none")]
)
def test_vapi_is_refused_without_the_right_signature(voice, signature, kid):
    refused = vapi(voice, vapi_body(HOURS), signature=signature, kid=kid)
    assert refused.status_code == 401
    assert refused.json() == {"error": "The service key is not accepted."}


def test_a_signature_ends_with_its_key(voice):
    assert vapi(voice, vapi_body(HOURS)).status_code == 200
    revoke_key(ServiceKey.objects.get(kid=kid_of(voice)), by=BY, at=timezone.now())
    assert vapi(voice, vapi_body(HOURS)).status_code == 401


def test_a_signature_for_one_organization_opens_no_other(voice):
    foreign = vapi(voice, vapi_body(HOURS), agent="globex/rival")
    missing = vapi(voice, vapi_body(HOURS), agent="globex/nobody")
    assert [foreign.status_code, missing.status_code] == [404, 404]
    assert foreign.content == missing.content


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": []},
        {"message": {"type": "end-of-call-report"}},
        {"message": {"type": "knowledge-base-request", "messages": {}}},
        {"message": {"type": "knowledge-base-request", "messages": [None, 1, {"role": "user"}]}},
        vapi_body("\ud800\x00"),
    ],
)
def test_whatever_vapi_sends_is_never_a_server_fault(voice, body):
    assert vapi(voice, body).status_code in {200, 400}


def test_the_signing_secret_is_shown_again_by_a_command(voice):
    said = StringIO()
    call_command("service_keys", "signing", kid_of(voice), stdout=said)
    assert said.getvalue().strip() == signing_secret(kid_of(voice))


def test_peers_share_the_limits_of_the_key(here, voice):
    exhaust("key", kid_of(voice))
    calls = [{"id": "v-1"}, {"id": "v-2"}]
    peers = [dify(voice), *(vapi(voice, vapi_body(HOURS, call=call)) for call in calls)]
    for refused in peers:
        assert refused.status_code == 429
        assert 0 < int(refused.headers["Retry-After"]) <= 10


def test_a_peer_past_its_limit_opens_no_session_whatever_call_it_names(here, voice):
    vapi(voice, vapi_body(HOURS, call={"id": "v-1"}))
    exhaust("key", kid_of(voice))
    for name in ("v-1", "v-2", "v-3"):
        vapi(voice, vapi_body(HOURS, call={"id": name}))
    dify(voice)
    with here.acme.context():
        assert [session.call_id for session in VoiceSession.objects.all()] == ["v-1"]


def test_the_tool_has_the_shape_of_a_function_tool(voice):
    said = StringIO()
    call_command("tool", stdout=said)
    tool = fits(OPENAI_TOOL, json.loads(said.getvalue()))
    Draft202012Validator.check_schema(tool["function"]["parameters"])
    answer = Client().get(
        "/integrations/openai/tools", headers={"Authorization": f"Bearer {voice.token}"}
    )
    assert answer.json() == {"tools": [tool]}
    assert Client().get("/integrations/openai/tools").status_code == 401


def asked_over_mcp(token, agent, *calls):
    """List the tools and call them, with the protocol's own client."""

    async def talk():
        desk = Desk(token, agent, note_of(), timezone.now)
        async with McpClient(server_for(desk)) as client:
            listed = await client.list_tools()
            return listed.tools, [await client.call_tool(name, sent) for name, sent in calls]

    return anyio.run(talk)


@pytest.mark.django_db(transaction=True)
def test_an_mcp_client_finds_the_tool_and_what_the_voice_api_tells(here, voice):
    (tool,), (answer,) = asked_over_mcp(
        voice.token, named_by("acme/receptionist"), (TOOL["name"], {"queries": [HOURS]})
    )
    assert (tool.name, tool.input_schema) == (TOOL["name"], TOOL["parameters"])
    told = heard(here, voice)
    assert not answer.is_error
    assert answer.structured_content["digest"] == told["digest"]
    assert json.loads(answer.content[0].text) == answer.structured_content


@pytest.mark.django_db(transaction=True)
def test_one_run_of_the_mcp_server_is_one_session(here, voice):
    call = (TOOL["name"], {"queries": [HOURS]})
    asked_over_mcp(voice.token, named_by("acme/receptionist"), call, call)
    with here.acme.context():
        (session,) = VoiceSession.objects.all()
        records = SearchRecord.objects.filter(session_id=session.pk, door="mcp")
        assert records.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("sent", "agent", "code"),
    [
        ({"queries": []}, "acme/receptionist", "invalid_request"),
        ({"queries": ["a"], "folder": "b"}, "acme/receptionist", "invalid_request"),
        ({"queries": ["a"]}, "globex/rival", "not_found"),
        ({"queries": ["a"]}, "globex/nobody", "not_found"),
    ],
)
def test_an_mcp_client_is_told_its_mistake(here, voice, sent, agent, code):
    _, (answer,) = asked_over_mcp(voice.token, named_by(agent), (TOOL["name"], sent))
    assert answer.is_error
    assert answer.structured_content["error"]["code"] == code


@pytest.mark.django_db(transaction=True)
def test_a_revoked_key_ends_the_search_of_an_mcp_client(here, voice):
    revoke_key(ServiceKey.objects.get(kid=kid_of(voice)), by=BY, at=timezone.now())
    call = (TOOL["name"], {"queries": [HOURS]})
    _, (answer,) = asked_over_mcp(voice.token, named_by("acme/receptionist"), call)
    assert answer.structured_content["error"]["code"] == "key_refused"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("kind", "code"), [(db.OperationalError, "database_away"), (db.DataError, "server_fault")]
)
def test_an_mcp_client_is_told_whose_fault_it_is(here, voice, monkeypatch, kind, code):
    def fail(*_args, **_kwargs):
        raise kind("pelican")

    monkeypatch.setattr("voiceapi.peers.asking.find_agent", fail)
    call = (TOOL["name"], {"queries": [HOURS]})
    _, (answer,) = asked_over_mcp(voice.token, named_by("acme/receptionist"), call)
    assert answer.is_error
    assert answer.structured_content["error"]["code"] == code
    assert "pelican" not in answer.content[0].text


@pytest.mark.django_db(transaction=True)
def test_the_mcp_command_speaks_over_standard_input_and_output(here, voice):
    environment = product_environment("http://127.0.0.1:9/v1", EARMARK_SERVICE_KEY=voice.token)
    command = ["manage.py", "mcp", "--agent", "acme/receptionist"]
    server = StdioServerParameters(
        command=sys.executable, args=command, env=environment, cwd=str(ROOT)
    )

    async def talk():
        async with McpClient(server, read_timeout_seconds=60) as client:
            return await client.call_tool(TOOL["name"], {"queries": [HOURS]})

    answer = anyio.run(talk)
    assert answer.structured_content["status"] == "ok"
    assert answer.structured_content["degraded"] == ["dense"]


def test_the_mcp_command_ends_at_once_without_a_key(here, settings):
    settings.SERVICE_KEY = None
    with pytest.raises(CommandError, match="not accepted"):
        call_command("mcp", "--agent", "acme/receptionist")


def test_a_peer_opens_no_door_that_the_runtime_has_not(here, voice):
    here.acme.pick(here.receptionist, "knowledge", containers=["help/empty"])
    here.acme.pick(here.receptionist, "instruction", containers=[here.acme.directory("empty")])
    assert heard(here, voice)["status"] == "restricted_empty"
    assert dify(voice).json() == {"records": []}
    assert vapi(voice, vapi_body(HOURS)).json() == {"documents": []}
    assert names(here.receptionist)["agent"] == "receptionist"
