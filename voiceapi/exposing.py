"""Show the metrics to whoever may see them; to everybody else the page is not there."""

from __future__ import annotations

import hmac
import ipaddress
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from voiceapi.watching import gauges

# Set by a proxy: then the address of the connection says nothing about who asks.
_FORWARDED: Final = ("X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via")


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer in Prometheus' text format, for all processes of the server together.

    Raises: Http404 without the token or, where none is set, from another machine
    """
    if not _may_see(request):
        raise Http404
    shown = generate_latest(registry()) + generate_latest(gauges(at=timezone.now()))  # noqa: TID251
    return HttpResponse(shown, content_type=CONTENT_TYPE_LATEST)


def _may_see(request: HttpRequest) -> bool:
    token: str | None = settings.METRICS_TOKEN
    if token is None:
        return _is_from_here(request)
    given = request.headers.get("Authorization", "").encode("utf-8", "replace")
    return hmac.compare_digest(given, f"Bearer {token}".encode())


def _is_from_here(request: HttpRequest) -> bool:
    if any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def registry() -> CollectorRegistry:
    """Return what the processes of this server have counted, together."""
    if settings.METRICS_FOLDER is None:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry
