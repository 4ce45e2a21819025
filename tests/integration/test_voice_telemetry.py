"""What is measured of a search, and what must never be."""

from __future__ import annotations

import json
import logging
import re
from itertools import pairwise

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError
from django.test import Client
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import REGISTRY
from prometheus_client.metrics import MetricWrapperBase

from knowledge import alarms
from knowledge.embedding import query_cache
from tests.embedders import CountingEmbedder
from tests.voice import runtime
from tests.world import world
from voiceapi import metrics
from voiceapi.watching import GAUGES

pytestmark = pytest.mark.django_db
HOURS = "When does the pelican lounge open?"


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


@pytest.fixture
def spans(monkeypatch):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("voiceapi.telemetry.trace.get_tracer", provider.get_tracer)
    return exporter


@pytest.fixture
def here():
    return world()


@pytest.fixture
def voice(here):
    return runtime(here.acme.organization)


@pytest.fixture
def answer(here, voice, spans):
    return voice.search(here.receptionist, voice.session(here.receptionist), HOURS)


def finished(spans):
    return {span.name: span for span in spans.get_finished_spans()}


def test_a_search_is_one_span_with_its_steps_below(answer, spans):
    found = finished(spans)
    assert set(found) == {"voice.search", "scope", "embed", "candidates", "fuse", "render"}
    parent = found.pop("voice.search")
    assert {span.parent.span_id for span in found.values()} == {parent.context.span_id}


def test_steps_lie_inside_the_search_one_after_the_other(answer, spans):
    found = finished(spans)
    steps = [found[name] for name in ("embed", "scope", "candidates", "fuse", "render")]
    for earlier, later in pairwise(steps):
        assert earlier.end_time <= later.start_time
    assert found["voice.search"].start_time <= steps[0].start_time
    assert steps[-1].end_time <= found["voice.search"].end_time


def test_the_span_says_what_came_out_and_why(here, answer, spans):
    attributes = finished(spans)["voice.search"].attributes
    assert attributes["earmark.status"] == "ok"
    assert attributes["earmark.agent"] == str(here.receptionist.pk)
    assert attributes["earmark.contract_version"] == 1
    assert attributes["earmark.mode.instructions"] == "all"
    assert attributes["earmark.mode.knowledge"] == "selected"
    assert attributes["earmark.results"] == (str(here.opening_hours),)
    assert attributes["earmark.results.legs"] == ("lexical",)
    assert attributes["earmark.candidates.knowledge.lexical"] == 1
    assert attributes["earmark.milliseconds.embed"] >= 0


def test_the_span_of_a_search_that_failed_says_who_was_asked(here, voice, spans, monkeypatch):
    def fail(*_args, **_kwargs):
        raise OperationalError

    monkeypatch.setattr("scopes.asking.allowlist_for", fail)
    voice.search(here.receptionist, voice.session(here.receptionist), HOURS)
    attributes = finished(spans)["voice.search"].attributes
    assert attributes["earmark.status"] == "unavailable"
    assert attributes["earmark.agent"] == str(here.receptionist.pk)


def test_nothing_that_was_said_is_in_spans_or_logs(here, voice, spans, caplog):
    with caplog.at_level(logging.DEBUG):
        session = voice.session(here.receptionist, additions=["MARKER addition"])
        turn = {"utterance": "MARKER utterance"}
        voice.search(here.receptionist, session, "MARKER pelican lounge", turn_context=turn)
    told = json.dumps([span.to_json() for span in spans.get_finished_spans()])
    logged = json.dumps([vars(record) for record in caplog.records], default=str)
    for word in ("MARKER", "seven in the morning", voice.token.split(".")[1]):
        assert word not in told
        assert word not in logged


def test_no_path_is_logged_either(here, voice, caplog):
    with caplog.at_level(logging.DEBUG):
        voice.post("/sessions/MARKER/renew", {"organization": "acme", "agent": "receptionist"})
        voice.post("/MARKER", {})
    assert "MARKER" not in json.dumps([vars(record) for record in caplog.records], default=str)


def test_a_search_that_finds_no_session_still_closes_its_span(here, voice, spans):
    assert voice.search(here.receptionist, "nowhere", HOURS).status_code == 404
    span = finished(spans)["voice.search"]
    assert span.end_time is not None
    assert span.events == ()


def sample(name, **labels):
    return REGISTRY.get_sample_value(name, labels) or 0


def test_searches_are_counted_by_status(here, voice):
    before = sample("earmark_voice_searches_total", status="ok")
    voice.search(here.receptionist, voice.session(here.receptionist), HOURS)
    assert sample("earmark_voice_searches_total", status="ok") == before + 1


def test_refusals_are_counted_by_code(voice):
    before = sample("earmark_voice_refusals_total", code="malformed_body")
    voice.post("/sessions", b"[")
    assert sample("earmark_voice_refusals_total", code="malformed_body") == before + 1


def test_this_machine_may_read_metrics():
    answer = Client().get("/metrics")
    assert answer.status_code == 200
    assert b"earmark_voice_searches_total" in answer.content


@pytest.mark.parametrize(
    "extra",
    [{"REMOTE_ADDR": "10.0.0.7"}, {"HTTP_X_FORWARDED_FOR": "10.0.0.7"}, {"HTTP_VIA": "1.1 proxy"}],
)
def test_others_do_not_even_see_that_there_are_metrics(extra):
    assert Client().get("/metrics", **extra).status_code == 404


@pytest.mark.parametrize(
    ("given", "status"),
    [("Bearer right", 200), ("Bearer wrong", 404), ("Bearer ключ", 404), ("", 404)],
)
def test_a_token_opens_the_metrics_wherever_it_comes_from(settings, given, status):
    settings.METRICS_TOKEN = "right"
    answer = Client().get("/metrics", headers={"Authorization": given}, REMOTE_ADDR="10.0.0.7")
    assert answer.status_code == status


def test_the_guide_lists_every_metric():
    kept = (*vars(metrics).values(), *vars(alarms).values(), query_cache.ASKED)
    ours = {
        (f"{metric._name}_total" if metric._type == "counter" else metric._name, metric._type)
        for metric in kept
        if isinstance(metric, MetricWrapperBase)
    } | {(name, "gauge") for name in GAUGES}
    guide = (django_settings.BASE_DIR / "docs" / "operations.md").read_text("utf-8")
    listed = re.findall(r"^\| `(earmark_\w+)` \| (\w+) \|", guide, re.M)
    assert sorted(listed) == sorted(ours)
