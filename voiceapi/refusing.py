"""Turn whatever was raised into the one envelope of refusals."""

from __future__ import annotations

import logging
from typing import Any, Final

from django.db import InterfaceError, OperationalError
from django.http import Http404, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response

from tenants.errors import EarmarkError
from tenants.keys import KeyRefused
from tenants.wire_fields import flatten
from voiceapi import errors, metrics

log = logging.getLogger(__name__)

_OF_THE_FRAMEWORK: Final[dict[type[Exception], type[EarmarkError]]] = {
    exceptions.ParseError: errors.MalformedBody,
    exceptions.MethodNotAllowed: errors.MethodRefused,
    exceptions.UnsupportedMediaType: errors.MediaTypeRefused,
    exceptions.NotAuthenticated: KeyRefused,
    exceptions.AuthenticationFailed: KeyRefused,
    exceptions.PermissionDenied: KeyRefused,
    Http404: errors.NotFound,
    # Whatever else the database raises is about what we asked of it, and a fault of the server.
    OperationalError: errors.DatabaseAway,
    InterfaceError: errors.DatabaseAway,
}


def refuse(raised: Exception, _context: dict[str, Any] | None = None) -> Response:
    """Return the answer to an exception; DRF's exception handler."""
    error = _told(raised)
    return Response(
        errors.envelope(error), status=errors.status_of(error), headers=errors.headers_of(error)
    )


def refuse_early(error: EarmarkError) -> JsonResponse:
    """Return the answer to an error that was raised before DRF took over."""
    metrics.REFUSALS.labels(error.code).inc()
    return JsonResponse(
        errors.envelope(error), status=errors.status_of(error), headers=errors.headers_of(error)
    )


def _told(raised: Exception) -> EarmarkError:
    error = _known(raised)
    metrics.REFUSALS.labels(error.code).inc()
    return error


def _known(raised: Exception) -> EarmarkError:
    if isinstance(raised, EarmarkError) and errors.status_of(raised) is not None:
        return raised
    if isinstance(raised, exceptions.ValidationError):
        return errors.InvalidRequest(fields=flatten(raised.detail))
    for kind, ours in _OF_THE_FRAMEWORK.items():
        if isinstance(raised, kind):
            return _noted(ours(), raised)
    log.error("server_fault", exc_info=raised)
    return errors.ServerFault()


def _noted(error: EarmarkError, raised: Exception) -> EarmarkError:
    if isinstance(error, errors.DatabaseAway):
        log.error(error.code, extra={"failure": type(raised).__name__})
    return error
