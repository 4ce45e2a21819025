"""The published contract, the code and the examples agree."""

from __future__ import annotations

import json
import os

import pytest
from django.conf import settings
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from knowledge.retrieval.deadline import DeadlinePassed
from knowledge.retrieval.types import SearchStatus
from tenants.keys import KeyRefused
from tests.contract.voice_examples import examples
from tests.embedders import CountingEmbedder
from voiceapi import publishing
from voiceapi.errors import VoiceError
from voiceapi.shapes import SearchResult
from voiceapi.tool import TOOL

FOLDER = settings.BASE_DIR / "contracts" / "voice-v1"
PUBLISHED = json.loads((FOLDER / "openapi.json").read_text("utf-8"))
FILES = {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("examples/*.json")}


def operation_of(example):
    """The operation that an example asks for; another method is refused by the one that is there."""
    path = example["request"]["path"].partition("?")[0]
    known = next(known for known in PUBLISHED["paths"] if _fits(known, path))
    operations = PUBLISHED["paths"][known]
    return operations.get(example["request"]["method"].lower()) or next(iter(operations.values()))


def schema_of(example):
    operation, status = operation_of(example), str(example["response"]["status"])
    return operation, operation["responses"][status]["content"]["application/json"]["schema"]


def _fits(known, path):
    pairs = list(zip(known.split("/"), path.split("/"), strict=False))
    same_length = known.count("/") == path.count("/")
    return same_length and all(a == b or a.startswith("{") for a, b in pairs)


def errors(schema, value):
    whole = {"components": PUBLISHED["components"], **schema}
    validator = Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return [error.message for error in validator.iter_errors(value)]


def test_the_published_file_is_what_the_code_says():
    publishing.check()


@pytest.mark.parametrize("name", sorted(FILES))
def test_an_example_answers_as_the_schema_says(name):
    _, schema = schema_of(FILES[name])
    assert errors(schema, FILES[name]["response"]["body"]) == []


@pytest.mark.parametrize("name", sorted(n for n in FILES if not n.startswith("refused_")))
def test_an_example_asks_as_the_schema_says(name):
    operation, _ = schema_of(FILES[name])
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        assert errors(schema, FILES[name]["request"]["body"]) == []


def test_there_is_an_example_of_every_search_status():
    told = {example["response"]["body"].get("status") for example in FILES.values()} - {None}
    assert told == {status.value for status in SearchStatus}


def test_there_is_an_example_of_every_http_status_of_every_operation():
    documented = {
        (operation["operationId"], status)
        for operations in PUBLISHED["paths"].values()
        for operation in operations.values()
        for status in operation["responses"]
    }
    shown = {
        (operation_of(example)["operationId"], str(example["response"]["status"]))
        for example in FILES.values()
    }
    assert shown == documented


def test_there_is_an_example_of_every_type_of_result_and_of_all_that_one_may_hold():
    results = [
        result
        for example in FILES.values()
        for result in example["response"]["body"].get("results", [])
    ]
    assert {result["type"] for result in results} == set(SearchResult.KINDS)
    for name in ("chunk", "url", "valid_until"):
        assert {result[name] is None for result in results} == {True, False}


def test_there_is_an_example_of_every_refusal_of_being_busy_away_or_late():
    told = {body["error"]["code"] for body in answers() if "error" in body}
    assert {"overloaded", "database_away", "deadline_passed", "server_fault"} <= told


def answers():
    return [example["response"]["body"] for example in FILES.values()]


def test_examples_name_codes_that_exist():
    known = {kind.code for kind in VoiceError.__subclasses__()}
    known |= {KeyRefused.code, DeadlinePassed.code}
    told = [
        example["response"]["body"]["error"]["code"]
        for example in FILES.values()
        if "error" in example["response"]["body"]
    ]
    assert set(told) <= known


def test_every_status_but_ok_carries_guidance():
    for example in FILES.values():
        body = example["response"]["body"]
        if body.get("status", "ok") != "ok":
            assert body["guidance"]


@pytest.mark.django_db
def test_the_examples_are_what_the_server_answers(monkeypatch):
    embedder = CountingEmbedder()
    for module in ("scopes.asking", "voiceapi.readiness"):
        monkeypatch.setattr(f"{module}.current_embedder", lambda: embedder)
    made = dict(examples(embedder))
    if "EARMARK_WRITE_EXAMPLES" in os.environ:
        for name, example in made.items():
            text = json.dumps(example, ensure_ascii=False, indent=2) + "\n"
            (FOLDER / "examples" / f"{name}.json").write_text(text, "utf-8")
        return
    assert made == FILES


def test_the_tools_parameters_are_a_json_schema():
    validator_for(TOOL["parameters"]).check_schema(TOOL["parameters"])
    tool = Draft202012Validator(TOOL["parameters"])
    assert tool.is_valid({"queries": ["كيف أسترجع المبلغ", "how to get a refund"]})
    for wrong in ("{}", '{"queries": []}', '{"queries": ["a"], "limit": 1}'):
        assert not tool.is_valid(json.loads(wrong))
    assert not tool.is_valid({"queries": ["a"] * 5})
