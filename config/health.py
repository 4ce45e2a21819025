"""Two questions a supervisor asks: is the process alive, can it answer."""

from __future__ import annotations

from typing import Final

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from tenants.patience import patient_for
from tenants.writable import require_writable

_PATIENCE_S: Final = 2.5


@require_safe
def alive(_request: HttpRequest) -> HttpResponse:
    """200 while the process answers at all."""
    return HttpResponse("alive\n", content_type="text/plain")


@require_safe
def ready(_request: HttpRequest) -> HttpResponse:
    """200 when the database answers this process too and takes writes, else 503."""
    try:
        with patient_for(_PATIENCE_S), connection.cursor() as cursor:
            require_writable(cursor)
    except DatabaseError:
        return HttpResponse("no database\n", status=503, content_type="text/plain")
    return HttpResponse("ready\n", content_type="text/plain")
