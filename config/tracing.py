"""Where the spans of searches go: nowhere, or to a collector that speaks OTLP over HTTP."""

from __future__ import annotations

from typing import Final

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from config.env import env_int, env_secret, env_str, env_url

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
_HTTP: Final = frozenset({"http", "https"})
# A collector that is away must not hold up the end of a process for long.
_TIMEOUT_S: Final = 5


def start_tracing() -> TracerProvider | None:
    """Send spans to the collector that the environment names; without one, do nothing.

    Sending happens on a thread of its own, which each worker gets anew after a fork; no request
    waits for it, and what a collector does not take is dropped.
    """
    provider = provider_from_environment()
    if provider is not None:
        trace.set_tracer_provider(provider)
    return provider


def provider_from_environment() -> TracerProvider | None:
    """Return what sends to the collector, None when none is named.

    Raises: ImproperlyConfigured for a malformed value
    """
    endpoint = env_url(ENDPOINT, schemes=_HTTP)
    if endpoint is None:
        return None
    # Only those who send spans wait for what sends them.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    share = env_int("EARMARK_TRACED_PERCENT", high=100) / 100
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(share)),
        resource=Resource.create({"service.name": env_str("OTEL_SERVICE_NAME")}),
    )
    exporter = OTLPSpanExporter(
        endpoint=endpoint.rstrip("/") + "/v1/traces", headers=_headers(), timeout=_TIMEOUT_S
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _headers() -> dict[str, str]:
    given = env_secret("OTEL_EXPORTER_OTLP_HEADERS") or ""
    pairs = (pair.partition("=") for pair in given.split(",") if pair.strip())
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
