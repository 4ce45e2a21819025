"""The whole published contract under generated requests, one by one and in chains of them."""

from __future__ import annotations

import json

import pytest
import schemathesis
from django.conf import settings as django_settings
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from knowledge.embedding.spaces import ensure_space
from knowledge.passages import CHUNKER_VERSION
from knowledge.text.normalising import normalise
from tests.embedders import CountingEmbedder
from tests.voice import runtime
from tests.world import world
from voiceapi.contract import DEADLINE_HEADER

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
FILE = django_settings.BASE_DIR / "contracts" / "voice-v1" / "openapi.json"
DOCUMENT = json.loads(FILE.read_text("utf-8"))
READY = "/internal/voice/v1/ready"
OPERATIONS = sorted((path, method) for path, known in DOCUMENT["paths"].items() for method in known)
BOUNDED = settings(
    max_examples=20,
    stateful_step_count=5,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    made = CountingEmbedder()
    for module in ("scopes.asking", "voiceapi.readiness"):
        monkeypatch.setattr(f"{module}.current_embedder", lambda: made)
    ensure_space(made.space, chunker_version=CHUNKER_VERSION)


@pytest.fixture
def headers():
    voice = runtime(world().acme.organization)
    return {"Authorization": f"Bearer {voice.token}", "X-Earmark-Contract": "1"}


def filter_body(_context, body):
    # A query that is nothing once it is normalised is refused, which no JSON schema can say.
    queries = body.get("queries") if isinstance(body, dict) else None
    texts = [one for one in queries if isinstance(one, str)] if isinstance(queries, list) else []
    return all(normalise(text) for text in texts)


def after_call(_context, case, response):
    asked = response.status_code != 503 or case.operation.path == READY
    assert asked, f"{case.operation.label} could not be asked: {response.text[:300]}"


def loaded(headers):
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    schema.config.update(headers=headers)
    # A body with a NUL is refused before any schema; tests/property/test_voice_bodies.py sends those.
    schema.config.generation.update(allow_x00=False, with_security_parameters=False)
    schema.hook(filter_body)
    # "Too late" is an answer of the contract, for a deadline is among what is made up. "Not ready" is one
    # of readiness alone: elsewhere 503 says that nothing could be asked, and here everything is at hand.
    told = schema.config.checks.not_a_server_error
    told.expected_statuses = [*told.expected_statuses, "503", "504"]
    schema.hook(after_call)
    schema.app = get_wsgi_application()
    return schema


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_operation_keeps_every_promise(path, method, headers):
    operation = loaded(headers)[path][method.upper()]

    @BOUNDED
    @given(case=operation.as_strategy())
    def promised(case):
        case.call_and_validate()

    promised()


def test_chains_of_operations_keep_every_promise(headers):
    schema = loaded(headers)
    schema.config.generation.update(modes=[GenerationMode.POSITIVE])
    # Asked of each operation above; in a chain it takes our own header for a made-up one.
    schema.config.checks.ignored_auth.enabled = False

    @schema.hook
    def map_body(_context, body):
        if isinstance(body, dict) and {"organization", "agent"} <= body.keys():
            return body | {"organization": "acme", "agent": "receptionist"}
        return body

    @schema.hook
    def map_headers(_context, sent):
        # Whether a session opens within a few milliseconds is up to the machine, and so would be
        # what can follow. Deadlines are asked of each operation above.
        return {name: value for name, value in (sent or {}).items() if name != DEADLINE_HEADER}

    schema.as_state_machine().run(settings=BOUNDED)
