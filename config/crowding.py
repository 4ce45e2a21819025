"""Pages and the REST API leave callers their share of a process: threads, connections and time."""

from __future__ import annotations

from collections.abc import Callable
from threading import BoundedSemaphore
from typing import Final

from django.conf import settings
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from psycopg.errors import QueryCanceled

from config.refused import OTHER_DOORS, refused
from tenants.isolation import within_limits
from voiceapi.errors import Overloaded

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_AGAIN: Final = {"Retry-After": "1"}


class PagesYieldMiddleware:
    """Works on so many requests of pages and of the REST API at once; one more is refused, never queued.

    What only reads may take 8 s for a statement. What writes keeps the connection's patience: broken off,
    somebody's work would be lost.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.places = BoundedSemaphore(settings.PAGE_CONCURRENCY)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Take a place for the time of the request, or refuse at once."""
        if request.path_info.startswith(OTHER_DOORS):
            return self.get_response(request)
        if not self.places.acquire(blocking=False):
            told = _("The server is busy. Try again in a moment.")
            return refused(request, Overloaded(), told=told, headers=_AGAIN)
        try:
            return self._answer(request)
        finally:
            self.places.release()

    def process_exception(self, request: HttpRequest, raised: Exception) -> HttpResponse | None:
        """Say of a page whose statement was broken off that it took too long."""
        if not isinstance(raised, OperationalError):
            return None
        if not isinstance(raised.__cause__, QueryCanceled):
            return None
        told = _("This takes too long at the moment. Ask for less, or try again later.")
        return refused(request, Overloaded(), told=told, headers=_AGAIN)

    def _answer(self, request: HttpRequest) -> HttpResponse:
        if request.method not in _READS:
            return self.get_response(request)
        with within_limits({"statement_timeout": settings.PAGE_STATEMENT_TIMEOUT}):
            return self.get_response(request)
