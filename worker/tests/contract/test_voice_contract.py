import asyncio
import json
from pathlib import Path

import httpx
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earmark_worker import wire
from earmark_worker.client import VoiceClient
from earmark_worker.errors import WorkerError
from tests.contract.meaning import meaning, misfits
from tests.fakes.backend import FakeBackend, a_conversation, view_of

CONTRACT = Path(__file__).parents[3] / "contracts" / "voice-v1"
OPENAPI = json.loads((CONTRACT / "openapi.json").read_text())
SCHEMAS = OPENAPI["components"]["schemas"]
EXAMPLES = {path.stem: json.loads(path.read_text()) for path in CONTRACT.glob("examples/*.json")}


def referred(schema, field):
    return SCHEMAS[schema]["properties"][field]["$ref"].rsplit("/", 1)[-1]


MODELS = [
    (wire.OpenSession, "SessionRequest"),
    (wire.Call, "Call"),
    (wire.Contact, "ContactName"),
    (wire.Session, "SessionOpened"),
    (wire.Renewed, "SessionRenewed"),
    (wire.RenewSession, "RenewRequest"),
    (wire.EndSession, "EndRequest"),
    (wire.ContractName, referred("SessionOpened", "contract")),
    (wire.ContractInfo, "ContractAnswer"),
    (wire.Tool, "Tool"),
    (wire.SearchRequest, "SearchRequest"),
    (wire.TurnContextBody, "Turn"),
    (wire.TurnCall, "TurnCall"),
    (wire.SearchReply, "SearchAnswer"),
    (wire.Result, "SearchResult"),
    (wire.ErrorReply, "RefusalEnvelope"),
    (wire.ErrorBody, "Refusal"),
]
PAIRS = {(model.__name__, schema) for model, schema in MODELS}
PAIRS |= {(theirs, ours) for ours, theirs in PAIRS}
FIELDS = [(model, schema, name) for model, schema in MODELS for name in model.model_fields]
REQUESTS = {
    "sessions": wire.OpenSession,
    "renew": wire.RenewSession,
    "end": wire.EndSession,
    "knowledge-search": wire.SearchRequest,
}


def validate(body, schema):
    document = {"$ref": f"#/components/schemas/{schema}", "components": OPENAPI["components"]}
    jsonschema.validate(body, document, cls=jsonschema.Draft202012Validator)


def example(name):
    return EXAMPLES[name]["response"]


@pytest.mark.parametrize(("model", "schema"), MODELS)
def test_a_message_has_the_fields_of_the_contract(model, schema):
    assert set(model.model_fields) == set(SCHEMAS[schema]["properties"])


@pytest.mark.parametrize(("model", "schema"), MODELS)
def test_what_an_answer_must_have_the_contract_promises_and_what_it_asks_for_we_send(model, schema):
    ours = {name for name, field in model.model_fields.items() if field.is_required()}
    theirs = set(SCHEMAS[schema].get("required", []))
    if issubclass(model, wire._Request):
        assert theirs <= ours
    else:
        assert ours <= theirs


@pytest.mark.parametrize(("model", "schema", "name"), FIELDS)
def test_a_field_has_the_type_the_values_and_the_bounds_of_the_contract(model, schema, name):
    written = model.model_json_schema()
    ours = meaning(written["properties"][name], written.get("$defs", {}))
    theirs = meaning(SCHEMAS[schema]["properties"][name], SCHEMAS)
    # What we send has to be allowed there; what is answered has to be readable here.
    narrow, wide = (ours, theirs) if issubclass(model, wire._Request) else (theirs, ours)
    assert misfits(narrow, wide, PAIRS) == []
    assert ours.enum <= theirs.enum


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ({"type": "string"}, {"type": "integer"}),
        ({"type": "string"}, {"type": "string", "format": "date-time"}),
        ({"type": ["string", "null"]}, {"type": "string"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "string"}),
        ({"type": "string"}, {"type": "string", "enum": ["a"]}),
        ({"enum": ["a", "b"], "type": "string"}, {"type": "string", "enum": ["a"]}),
        ({"type": "string"}, {"type": "string", "maxLength": 5}),
        ({"type": "string", "maxLength": 6}, {"type": "string", "maxLength": 5}),
        ({"type": "string"}, {"type": "string", "pattern": "^a$"}),
        ({"type": "integer"}, {"type": "integer", "minimum": 1}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": {"type": "string", "maxLength": 5}},
        ),
        ({"$ref": "#/Other"}, {"$ref": "#/Shape"}),
    ],
)
def test_what_is_wider_than_the_contract_does_not_pass(narrow, wide):
    shapes = {"Shape": {"type": "object"}, "Other": {"type": "object"}}
    narrow, wide = meaning(narrow, shapes), meaning(wide, shapes)
    pairs = {("Shape", "Shape"), ("Other", "Other")}
    assert misfits(narrow, wide, pairs) != []
    assert misfits(wide, wide, pairs) == []


def test_every_status_of_the_contract_is_known():
    assert set(wire.Status.__args__) == set(SCHEMAS["StatusEnum"]["enum"])


def test_every_path_the_worker_calls_is_published():
    base = wire.BASE_PATH
    session = f"{base}/sessions/{{session}}"
    called = {f"{base}/contract", f"{base}/ready", f"{base}/sessions", f"{session}/renew"}
    called |= {f"{session}/end", f"{session}/tools/knowledge-search"}
    assert called == set(OPENAPI["paths"])


@pytest.mark.parametrize("name", sorted(n for n in EXAMPLES if not n.startswith("refused_")))
def test_the_worker_can_send_the_request_of_every_example(name):
    request = EXAMPLES[name]["request"]
    if request["method"] != "POST":
        assert request["path"].split("?")[0] in OPENAPI["paths"]
        return
    model = REQUESTS[request["path"].rsplit("/", 1)[-1]]
    sent = model.model_validate(request["body"]).model_dump(exclude_none=True)
    assert {key: sent[key] for key in request["body"]} == _tuples(request["body"])


@pytest.mark.parametrize("name", sorted(n for n in EXAMPLES if n.startswith("search_")))
async def test_every_search_example_is_read_as_its_status(name):
    answer = example(name)
    client = _client(answer)
    reply = await client.search("s", _a_search())
    assert reply.status == answer["body"]["status"]
    assert reply.guidance == answer["body"]["guidance"]
    assert reply.search == answer["body"]["search"]
    assert len(reply.results) == len(answer["body"]["results"])


async def test_the_example_session_opens_a_call():
    request = wire.OpenSession(organization="acme", agent="a", call=wire.Call(id="c"))
    session = await _client(example("session_opened")).open(request)
    assert session.tools[0].name == "search_knowledge"
    assert session.prompt == example("session_opened")["body"]["prompt"]


async def test_the_other_examples_are_read():
    renew = wire.RenewSession(organization="acme", agent="a")
    assert (await _client(example("session_renewed")).renew("s", renew)).session
    assert (await _client(example("contract")).contract()).version == 1
    await _client(example("ready")).ready()


@pytest.mark.parametrize("name", sorted(n for n in EXAMPLES if n.startswith("refused_")))
async def test_a_refused_session_is_an_error_for_the_program(name):
    request = wire.OpenSession(organization="acme", agent="a", call=wire.Call(id="c"))
    with pytest.raises(WorkerError):
        await _client(example(name)).open(request)


@pytest.mark.parametrize("name", sorted(n for n in EXAMPLES if n.startswith("refused_")))
async def test_a_refused_search_is_unavailable_to_the_conversation(name):
    assert (await _client(example(name)).search("s", _a_search())).status == "unavailable"


async def test_a_server_that_is_not_ready_is_told():
    with pytest.raises(WorkerError):
        await _client(example("not_ready")).ready()


calls = st.fixed_dictionaries(
    {},
    optional={
        "country": st.one_of(st.text(max_size=5), st.sampled_from(["AE", "de"])),
        "language": st.one_of(st.text(max_size=20), st.sampled_from(["ar", "en-US"])),
        "channel": st.one_of(st.text(max_size=40), st.sampled_from(["phone", "web"])),
    },
)
said = st.text(alphabet=st.characters(exclude_categories=()), max_size=1200)


@given(st.lists(said, min_size=1, max_size=3), st.lists(said, min_size=1, max_size=4), calls)
@settings(max_examples=150)
def test_whatever_is_said_the_search_request_keeps_to_the_contract(turns, texts, call):
    backend = FakeBackend()
    conversation, _, _ = a_conversation(backend, call=call)
    view = view_of(*(f"c:{turn}" for turn in turns))
    asyncio.run(conversation.search("c1", [text[:500] for text in texts], view=view))
    for request in backend.requests:
        body = request.model_dump(mode="json", exclude_none=True)
        validate(body, "SearchRequest")
        assert all(1 <= len(query) <= 500 for query in body["queries"])


def test_the_requests_that_open_and_end_a_call_keep_to_the_contract():
    call = wire.Call(id="c", country="AE", language="ar", channel="phone")
    opening = wire.OpenSession(organization="acme", agent="a", call=call)
    validate(opening.model_dump(mode="json", exclude_none=True), "SessionRequest")
    ending = wire.EndSession(organization="acme", agent="a", adopted=("r",))
    validate(ending.model_dump(mode="json"), "EndRequest")


def _a_search():
    return wire.SearchRequest(organization="acme", agent="a", queries=("refund",))


def _client(answer):
    def handler(_request):
        return httpx.Response(answer["status"], json=answer["body"])

    return VoiceClient("http://server.test", "k.s", transport=httpx.MockTransport(handler))


def _tuples(value):
    if isinstance(value, dict):
        return {key: _tuples(inner) for key, inner in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
