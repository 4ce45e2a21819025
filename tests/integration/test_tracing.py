"""Spans reach the collector that the environment names, with nothing in them that was said."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.core.exceptions import ImproperlyConfigured
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from config.tracing import provider_from_environment
from tests.embedders import CountingEmbedder
from tests.voice import runtime
from tests.world import world

pytestmark = pytest.mark.django_db


class Collector(ThreadingHTTPServer):
    """Keeps what it is sent."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Taking)
        self.taken: list[tuple[str, str | None, bytes]] = []


class Taking(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append((self.path, self.headers.get("X-Tenant"), body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args):
        pass


@pytest.fixture
def collector(monkeypatch):
    server = Collector()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Tenant = earmark")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    yield server
    server.shutdown()
    server.server_close()


def search_traced(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)
    provider = provider_from_environment()
    assert provider is not None
    monkeypatch.setattr("voiceapi.telemetry.trace.get_tracer", provider.get_tracer)
    here = world()
    voice = runtime(here.acme.organization)
    voice.search(here.receptionist, voice.session(here.receptionist), "MARKER pelican lounge")
    provider.shutdown()


def test_without_a_collector_nothing_is_sent(monkeypatch):
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    assert provider_from_environment() is None


def test_a_malformed_address_stops_the_start(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318")
    with pytest.raises(ImproperlyConfigured, match="OTEL_EXPORTER_OTLP_ENDPOINT"):
        provider_from_environment()


def test_a_search_arrives_at_the_collector_without_what_was_said(monkeypatch, collector):
    search_traced(monkeypatch)
    ((path, header, body),) = collector.taken
    assert (path, header) == ("/v1/traces", "earmark")
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    names = {a.key: a.value.string_value for a in resource.resource.attributes}
    assert names["service.name"] == "earmark"
    spans = {span.name for scope in resource.scope_spans for span in scope.spans}
    assert {"voice.search", "embed", "render"} <= spans
    assert b"MARKER" not in body
    assert b"seven in the morning" not in body


def test_a_share_of_nothing_sends_nothing(monkeypatch, collector):
    monkeypatch.setenv("EARMARK_TRACED_PERCENT", "0")
    search_traced(monkeypatch)
    assert collector.taken == []
