"""The whole REST API under generated requests, one by one and in chains of them, beside a rival's data.

Against the web server of production, so that every request has a transaction of its own.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx2
import jsonschema
import pytest
import schemathesis
from schemathesis import GenerationMode, engine, hooks
from schemathesis.config import CheckConfig, ChecksConfig, SchemathesisConfig
from schemathesis.config._auth import WFCAuthConfig
from schemathesis.engine import Status, events
from schemathesis.generation.meta import TestPhase
from schemathesis.openapi.checks import EnsureResourceAvailability, UseAfterFree
from schemathesis.wfc.integration import register_wfc_auth

from golden.models import LONGEST_ANSWER
from knowledge.text.normalising import clean
from tests.openai_server import OpenAIServer
from tests.processes import eventually, free_port, running, web
from tests.rest_world import BASE, CANARY, DOCUMENT, Office, offices, operations

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.django_db(transaction=True),
]
ONE_BY_ONE = ["examples", "coverage", "fuzzing"]
CHAINS = ["stateful"]
# Of each operation, and of chains of each kind.
EXAMPLES = {"examples": 10, "stateful": 60}
LONGEST_MADE = 100_000
# Of a name in the internet, by RFC 1035.
LONGEST_HOST = 253
SHAPES = DOCUMENT["components"]["schemas"]


@dataclass
class Served:
    """A web server, an authorised client of acme, and what belongs to globex."""

    url: str
    acme: Office
    globex: Office


@pytest.fixture
def served() -> Iterator[Served]:
    acme, globex = offices()
    with OpenAIServer() as embedding:
        port = free_port()
        server = web(embedding.base_url, port, EARMARK_WEB_WORKERS="2", EARMARK_WEB_THREADS="4")
        url = f"http://127.0.0.1:{port}"
        with running(server):
            eventually(lambda: _answers(url), within_s=120)
            yield Served(url, acme, globex)


def _answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/healthz", trust_env=False, timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False


@dataclass
class Run:
    """What was sent and answered, and what the checks found wrong."""

    secrets: list[bytes]
    answered: Counter[tuple[str, int]] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    followed: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def take(self, event: Any) -> None:
        if isinstance(event, events.ScenarioFinished):
            self._take_scenario(event.recorder)
        elif isinstance(event, events.NonFatalError):
            self.wrong.append(repr(event.value))
        elif isinstance(event, events.FatalError):
            self.wrong.append(repr(event.exception))

    def _take_scenario(self, told: Any) -> None:
        for pk, interaction in told.interactions.items():
            node = told.cases[pk]
            # What globex asks for itself is its own.
            if interaction.response is None:
                self.wrong.append(f"No answer: {interaction.request.uri}")
            elif node.value.auth_identity != "globex":
                self._take_answer(node, interaction.request, interaction.response)
        for pk, checks in told.checks.items():
            self.checks.update(check.name for check in checks)
            failed = (check for check in checks if check.status != Status.SUCCESS)
            self.wrong += [self._found(check, told, pk) for check in failed]

    def _take_answer(self, node: Any, request: Any, answer: Any) -> None:
        label = node.value.operation.label
        self.answered[label, answer.status_code] += 1
        if node.is_transition_applied and answer.status_code < 300:
            self.followed[label] += 1
        if any(secret in answer.content for secret in self._unsaid(request)):
            self.wrong.append(f"Leak: {request.uri}: {answer.content[:300]!r}")

    def _unsaid(self, request: Any) -> list[bytes]:
        """What is secret and was not named in the request: a refusal may say again what was sent."""
        said = request.uri.encode() + (request.body or b"")
        return [secret for secret in self.secrets if secret not in said]

    @staticmethod
    def _found(check: Any, told: Any, pk: str) -> str:
        info, interaction = check.failure_info, told.interactions.get(pk)
        sample = "" if info is None else f"{info.failure.message}\n{info.code_sample[:1500]}"
        answer = "" if interaction is None else repr(interaction.response.content[:400])
        return f"{check.name}: {told.label}\n{sample}\n{answer}"

    def figures(self) -> str:
        statuses = Counter[int]()
        for (_label, status), times in self.answered.items():
            statuses[status] += times
        return (
            f"{sum(statuses.values())} requests, {sum(self.checks.values())} checks, "
            f"{sum(self.followed.values())} links followed to success; "
            + ", ".join(f"{status}: {times}" for status, times in sorted(statuses.items()))
        )


def described(sensible: Sensible, phases: list[str], folder: Path, tag: str | None) -> Any:
    """Return the document as it is tried: by whom, how often, and what else is right."""
    nothing_kept = SchemathesisConfig.from_dict({"cache": {"enabled": False}})
    whole = schemathesis.openapi.from_dict(_without_huge(DOCUMENT), config=nothing_kept)
    schema = whole if tag is None else whole.include(tag=tag)
    schema.config.update(base_url=sensible.served.url)
    # A body with a NUL is refused before any schema; tests/faults/test_malformed_bodies.py sends those.
    schema.config.generation.update(
        allow_x00=False, with_security_parameters=False, deterministic=True, database="none",
        max_examples=EXAMPLES[phases[0]],
    )  # fmt: skip
    schema.config.phases.update(phases=phases)
    _follow_declared_links(schema)
    _expect(schema.config.checks)
    _speak_for_acme(schema, sensible.served, folder / "people.json")
    sensible.hook_into(schema)
    return schema


def _follow_declared_links(schema: Any) -> None:
    chains = schema.config.phases.stateful
    chains.max_steps = 12
    chains.inference.algorithms = []
    chains.generation.update(modes=[GenerationMode.POSITIVE])
    # Let all that makes something begin a chain: `external_id` is taken for the id of what nobody makes.
    schema.analysis.dependency_graph.operations.clear()


def _without_huge(node: Any) -> Any:
    """Leave out lengths at which nothing is made: a text of a million characters is too long to generate."""
    if isinstance(node, list):
        return [_without_huge(child) for child in node]
    if not isinstance(node, dict):
        return node
    return {
        name: _without_huge(child)
        for name, child in node.items()
        if name != "maxLength" or child < LONGEST_MADE
    }


def _speak_for_acme(schema: Any, served: Served, file: Path) -> None:
    """Everything is sent for acme; what acme reads is asked once more for globex, who may not."""
    people = {"acme": served.acme, "globex": served.globex}
    told = [
        {"name": name, "fixedHeaders": [
            {"name": "Authorization", "value": f"Bearer {office.caller.token}"}]}
        for name, office in people.items()
    ]  # fmt: skip
    file.write_text(json.dumps({"auth": told}))
    register_wfc_auth(schema, WFCAuthConfig(path=str(file), user="acme", peers=[*people]))


def _expect(checks: ChecksConfig) -> None:
    """Name what else is right by the API's own document, beside the statuses that are always expected."""
    also: tuple[tuple[CheckConfig, tuple[str, ...]], ...] = (
        # Well formed, at a version that is not there any more, or naming what cannot be done.
        (checks.positive_data_acceptance, ("412", "422")),
        # A list that is longer than it may be makes a body that is larger than it may be.
        (checks.negative_data_rejection, ("413",)),
        # RFC 6585: the condition is missing.
        (checks.missing_required_header, ("428",)),
    )
    for check, statuses in also:
        check.expected_statuses = [*check.expected_statuses, *statuses]


@dataclass
class Sensible:
    """Puts names that exist where any name would fit; what does not fit its schema is left as it is.

    Which names there are, and that one field goes with another, is what a schema cannot say.
    """

    served: Served
    count: Iterator[int] = field(default_factory=itertools.count)

    def hook_into(self, schema: Any) -> None:
        @schema.hook
        def filter_failure(_context, failure, case, response):
            return not _told_otherwise(failure, case, response)

        @schema.hook
        def map_path_parameters(context, path_parameters):
            return path_parameters and self.path(context.operation.path, dict(path_parameters))

        @schema.hook
        def map_query(_context, query):
            return query and self.query(dict(query))

        @schema.hook
        def map_body(context, body):
            shape = _shape(context.operation)
            return self.body(shape, dict(body)) if isinstance(body, dict) else body

    def complete(self, case: Any) -> None:
        """Do what goes beyond one part of a request, and the rest where parts are not generated alone."""
        # A key used again and a push at a made-up version are refused for that: most get by.
        if next(self.count) % 8:
            if "Idempotency-Key" in case.headers:
                case.headers["Idempotency-Key"] = f"key-{next(self.count)}"
            if case.method == "POST" and case.operation.path.endswith(("/items", "/instructions")):
                case.headers.pop("If-Match", None)
        is_body = isinstance(case.body, dict)
        if case.meta.phase.name == TestPhase.COVERAGE:
            case.path_parameters = self.path(case.operation.path, dict(case.path_parameters))
            case.query = self.query(dict(case.query))
            if is_body:
                case.body = self.body(_shape(case.operation), dict(case.body))
        if is_body and case.operation.path.endswith("/scope/{root}"):
            case.body = self.picks(case.path_parameters["root"], case.body)

    def picks(self, root: str, given: dict[str, Any]) -> dict[str, Any]:
        """Picks of instructions are for instructions, those of knowledge for knowledge."""
        own = {"instructions": ("instructions", "directories"), "knowledge": ("items", "folders")}
        if given.keys() <= set(own[root]):
            return given
        return {own[root][0]: [self.served.acme.ids[own[root][0]]]}

    def path(self, path: str, given: dict[str, Any]) -> dict[str, Any]:
        kind = path.removeprefix(BASE).partition("/")[0]
        try:
            number = UUID(str(given.get("id"))).int % 4
        except ValueError:
            return given
        known = (self.served.acme, self.served.acme, self.served.globex)
        return given | {"id": known[number].ids[kind]} if number < len(known) else given

    def query(self, given: dict[str, Any]) -> dict[str, Any]:
        # A cursor is signed; the chains follow those that were given out.
        given.pop("cursor", None)
        for name, value in {"organization": "acme", "source": "help"}.items():
            if given.get(name):
                given[name] = value
        return given

    def body(self, shape: str, given: dict[str, Any]) -> dict[str, Any]:
        fitting = {name for name, value in given.items() if _fits(shape, name, value)}
        # A text of nothing but signs that nobody sees is blank; no pattern says which those are.
        texts = {name for name in fitting if isinstance(given[name], str) and given[name]}
        given |= {name: "said" for name in texts if not clean(given[name]).strip()}
        for name, value in KNOWN.items():
            if name in fitting and given[name]:
                given[name] = value
        if shape in {"NewAnswer", "AnswerContent"}:
            _as_answer(given, fitting)
        if "url" in fitting and len(urlsplit(given["url"]).hostname or "") > LONGEST_HOST:
            given["url"] = "https://help.example/"
        if shape == "JobStart":
            _as_job(given, fitting)
        return given


def _told_otherwise(failure: Any, case: Any, response: Any) -> bool:
    """What looks like a resource used after its deletion, or lost after it was made, and is neither.

    A deletion of items and instructions is soft: they are read, say when they were deleted, and may be
    restored meanwhile. Clearing a root of a scope leaves the root. A source has a schedule once one is
    made for it, and an answer is in the index once it is published.
    """
    if isinstance(failure, UseAfterFree):
        return "deleted_at" in response.json() or case.operation.path.endswith("/scope/{root}")
    is_lost = isinstance(failure, EnsureResourceAvailability)
    return is_lost and case.operation.path.endswith(("/schedule", "/sync"))


KNOWN: dict[str, Any] = {
    "organization": "acme",
    "source": "help",
    "segments": ["pelican-gold"],
    "agents": ["pelican-desk"],
    "owner": "chief-of-acme",
    # After whatever valid_from there is, said now or before.
    "valid_until": "9999-12-31T23:59:59Z",
}


def _as_answer(given: dict[str, Any], fitting: set[str]) -> None:
    """A folder that may be one, and a text that is spoken whole: only a rule's may be longer."""
    if "folder" in fitting:
        given["folder"] = "birds"
    if "answer" in fitting:
        given["answer"] = given["answer"][:LONGEST_ANSWER]


def _as_job(given: dict[str, Any], fitting: set[str]) -> None:
    """Items or a folder, and a target just when they move."""
    if {"items", "folder"} <= given.keys():
        given.pop("folder" if "folder" in fitting else "items")
    elif not {"items", "folder"} & given.keys():
        given["folder"] = "help/pelican"
    if given.get("action") == "move":
        given.setdefault("target", "help/pelican/moved")
    elif {"action", "target"} <= fitting:
        del given["target"]


def _shape(operation: Any) -> str:
    body = operation.definition.raw.get("requestBody", {})
    schema = body.get("content", {}).get("application/json", {}).get("schema", {})
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _fits(shape: str, name: str, value: Any) -> bool:
    known = SHAPES.get(shape, {}).get("properties", {})
    if name not in known:
        return False
    root = {**known[name], "components": DOCUMENT["components"]}
    return bool(jsonschema.Draft202012Validator(root).is_valid(value))


def run(served: Served, phases: list[str], folder: Path, tags: Sequence[str | None]) -> Run:
    theirs = [CANARY, *served.globex.ids.values()]
    found, sensible = Run([secret.encode() for secret in theirs]), Sensible(served)

    @schemathesis.hook
    def before_call(_context, case, _kwargs):
        if case.meta is not None and case.meta.generation.mode.is_positive:
            sensible.complete(case)

    try:
        for tag in tags:
            for event in engine.from_schema(described(sensible, phases, folder, tag)).execute():
                found.take(event)
    finally:
        hooks.unregister(before_call)
    return found


@pytest.fixture
def tell(capsys):
    def told(found: Run) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\nREST API: {found.figures()}\n")

    return told


LABELS = {f"{method.upper()} {path}" for path, method, _ in operations()}


TAGS = sorted({tag for path, _, one in operations() if "{id}" in path for tag in one["tags"]})


def test_every_operation_keeps_every_promise(served, tmp_path, tell):
    found = run(served, ONE_BY_ONE, tmp_path, [None])
    tell(found)
    assert found.wrong == []
    assert {label for label, _status in found.answered} == LABELS


def test_chains_of_operations_keep_every_promise(served, tmp_path, tell):
    """First along all links, then along those among things of one kind, which takes them further."""
    found = run(served, CHAINS, tmp_path, [None, *TAGS])
    tell(found)
    assert found.wrong == []
    assert {label.split("/")[3] for label in found.followed} == set(TAGS)
