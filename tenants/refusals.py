"""What every HTTP door refuses: the facts, and the status each is said with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from tenants.errors import EarmarkError

Fields = Mapping[str, Sequence[str]]


class RequestRefused(EarmarkError):
    """This request was refused."""

    code = "request_refused"
    status: ClassVar[int] = 400
    retry_after: ClassVar[int | None] = None

    def __init__(
        self, message: str | None = None, *, fields: Fields | None = None, **data: Any
    ) -> None:
        super().__init__(message, fields=dict(fields or {}), **data)


class MalformedBody(RequestRefused):
    """The body is not a JSON object that can be read."""

    code = "malformed_body"


class InvalidRequest(RequestRefused):
    """Some fields are missing, unknown or not as the contract says."""

    code = "invalid_request"


class NotFound(RequestRefused):
    """There is nothing here."""

    code = "not_found"
    status = 404


class MethodRefused(RequestRefused):
    """This address does not take that method."""

    code = "method_refused"
    status = 405


class LengthMissing(RequestRefused):
    """Send the body with a Content-Length."""

    code = "length_missing"
    status = 411


class BodyTooLarge(RequestRefused):
    """The body is larger than the contract allows."""

    code = "body_too_large"
    status = 413


class MediaTypeRefused(RequestRefused):
    """The body must be sent as application/json in UTF-8."""

    code = "media_type_refused"
    status = 415


class DatabaseAway(RequestRefused):
    """The database did not answer."""

    code = "database_away"
    retryable = True
    status = 503
    retry_after = 2


class ServerFault(RequestRefused):
    """The server made a mistake; it has been logged under the request id."""

    code = "server_fault"
    status = 500


# A refusal names what is wrong, however much of it there is, in a body of bounded size.
MOST_NAMED: Final = 20
LONGEST_NAME: Final = 100


def envelope(error: EarmarkError) -> dict[str, Any]:
    """Return the body of every refusal."""
    fields: Fields = error.data.get("fields", {})
    named = {_printable(name): list(fields[name]) for name in list(fields)[:MOST_NAMED]}
    return {"error": {"code": error.code, "message": str(error), "fields": named}}


def _printable(name: str) -> str:
    return name[:LONGEST_NAME].encode("utf-8", "replace").decode("utf-8")
