"""Turn whatever was raised into the one envelope of refusals."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from tenants import refusals
from tenants.api.errors import RoleRequired, sides_of
from tenants.errors import EarmarkError
from tenants.refusals import RequestRefused, envelope
from tenants.tokens import TokenRefused
from tenants.wire_fields import flatten

log = logging.getLogger(__name__)
Statuses = Mapping[type[EarmarkError], int]
_OF_THE_FRAMEWORK: Final[dict[type[Exception], type[EarmarkError]]] = {
    exceptions.ParseError: refusals.MalformedBody,
    exceptions.MethodNotAllowed: refusals.MethodRefused,
    exceptions.UnsupportedMediaType: refusals.MediaTypeRefused,
    exceptions.NotAuthenticated: TokenRefused,
    exceptions.AuthenticationFailed: TokenRefused,
    exceptions.PermissionDenied: RoleRequired,
    Http404: refusals.NotFound,
    OperationalError: refusals.DatabaseAway,
    InterfaceError: refusals.DatabaseAway,
}


def refuse(raised: Exception, statuses: Statuses) -> Response:
    """Return the answer to an exception; `statuses` says how a view tells errors from below.

    The closest class named in the table counts; what is in no table is a fault of the server.
    """
    error = _known(raised, statuses)
    body = envelope(error)
    sides = sides_of(error)
    if sides is not None:
        body["error"]["sides"] = sides
    status = status_of(error, statuses)
    return Response(body, status=status, headers=_headers(error))


def status_of(error: EarmarkError, statuses: Statuses) -> int | None:
    """Return the HTTP status of an error, None for one that nobody has named."""
    if isinstance(error, RequestRefused):
        return error.status
    if isinstance(error, TokenRefused):
        return 401
    return next((statuses[kind] for kind in type(error).__mro__ if kind in statuses), None)


def _known(raised: Exception, statuses: Statuses) -> EarmarkError:
    if isinstance(raised, EarmarkError) and status_of(raised, statuses) is not None:
        return raised
    if isinstance(raised, exceptions.ValidationError):
        return refusals.InvalidRequest(fields=flatten(raised.detail))
    for kind, ours in _OF_THE_FRAMEWORK.items():
        if isinstance(raised, kind):
            return ours()
    log.error("server_fault", exc_info=raised)
    return refusals.ServerFault()


def _headers(error: EarmarkError) -> dict[str, str]:
    if isinstance(error, TokenRefused):
        return {"WWW-Authenticate": 'Bearer realm="earmark"'}
    seconds = error.retry_after if isinstance(error, RequestRefused) else None
    return {} if seconds is None else {"Retry-After": str(seconds)}
