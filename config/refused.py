"""What a page request is told that is refused before any page looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from tenants.refusals import RequestRefused, envelope

API: Final = "/api/"
# Doors with a count of places, bounds of bodies and refusals of their own, and what watches the process.
OTHER_DOORS: Final = ("/internal/", "/integrations/", "/metrics", "/healthz", "/readyz")


def refused(
    request: HttpRequest,
    error: RequestRefused,
    *,
    told: str,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> HttpResponse:
    """Return a page with one sentence, or the envelope where a program asked."""
    answer: HttpResponse
    if request.path_info.startswith(API):
        answer = JsonResponse(envelope(error), status=error.status)
    else:
        answer = render(request, "refused.html", {"told": told}, status=error.status)
    for name, value in headers.items():
        answer.headers[name] = value
    # It is in the line of the request; Django would log it once more, with the path.
    answer._has_been_logged = True  # type: ignore[attr-defined]
    return answer
