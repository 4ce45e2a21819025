"""What is true of every request: its id, where it came from, one line in the log."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

from config.logs import REQUEST_ID

_log: Final = logging.getLogger("earmark.request")
# What programs read: English, whatever language a client asks for.
_WIRES: Final = ("/api/", "/internal/", "/integrations/", "/metrics", "/healthz", "/readyz")
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestIdMiddleware:
    """Takes a well-formed X-Request-Id or makes one; it returns in the header, never in a body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request and log it by route, without query or body."""
        given = request.headers.get("X-Request-Id", "")
        request_id = given if _ID.fullmatch(given) else uuid.uuid4().hex
        token, started = REQUEST_ID.set(request_id), time.monotonic()
        try:
            response = self.get_response(request)
            response.headers["X-Request-Id"] = request_id
            _log.info("request", extra=_line(request, response, time.monotonic() - started))
        finally:
            REQUEST_ID.reset(token)
        return response


class PageLanguageMiddleware(LocaleMiddleware):
    """Speaks the reader's language on pages, and the one language of the contract on the wires."""

    def process_request(self, request: HttpRequest) -> None:
        """Choose the language of an answer."""
        if request.path_info.startswith(_WIRES):
            translation.activate(settings.LANGUAGE_CODE)
            request.LANGUAGE_CODE = settings.LANGUAGE_CODE
        else:
            super().process_request(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Tell caches that pages differ by language."""
        if request.path_info.startswith(_WIRES):
            return response
        return super().process_response(request, response)


def client_address(request: HttpRequest) -> str:
    """The address of the caller, seen past as many proxies as are trusted."""
    direct: str = request.META.get("REMOTE_ADDR", "")
    hops = [*(part.strip() for part in request.headers.get("X-Forwarded-For", "").split(","))]
    trusted: int = settings.TRUSTED_PROXIES
    return hops[-trusted] if 0 < trusted <= len(hops) and hops[-trusted] else direct


def _line(request: HttpRequest, response: HttpResponse, seconds: float) -> dict[str, object]:
    match = request.resolver_match
    return {
        "method": request.method,
        "route": match.route if match else "",
        "status": response.status_code,
        "milliseconds": round(seconds * 1000, 1),
    }
