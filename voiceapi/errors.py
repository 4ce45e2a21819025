"""What the voice API refuses: the facts, and the HTTP status each is said with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from knowledge.retrieval.deadline import DeadlinePassed
from tenants.errors import EarmarkError
from tenants.keys import KeyRefused

Fields = Mapping[str, Sequence[str]]


class VoiceError(EarmarkError):
    """The voice API refused this request."""

    code = "voice_refused"
    status: ClassVar[int] = 400
    retry_after: ClassVar[int | None] = None

    def __init__(self, message: str | None = None, *, fields: Fields | None = None) -> None:
        super().__init__(message, fields=dict(fields or {}))


class ContractMissing(VoiceError):
    """The header X-Earmark-Contract is required: it names the version that you speak."""

    code = "contract_missing"


class ContractMismatch(VoiceError):
    """This server does not serve the contract version that you asked for."""

    code = "contract_mismatch"
    status = 409


class MalformedBody(VoiceError):
    """The body is not a JSON object that can be read."""

    code = "malformed_body"


class InvalidRequest(VoiceError):
    """Some fields are missing, unknown or not as the contract says."""

    code = "invalid_request"


class NotFound(VoiceError):
    """There is nothing here."""

    code = "not_found"
    status = 404


class MethodRefused(VoiceError):
    """This address does not take that method."""

    code = "method_refused"
    status = 405


class LengthMissing(VoiceError):
    """Send the body with a Content-Length."""

    code = "length_missing"
    status = 411


class BodyTooLarge(VoiceError):
    """The body is larger than the contract allows."""

    code = "body_too_large"
    status = 413


class MediaTypeRefused(VoiceError):
    """The body must be sent as application/json in UTF-8."""

    code = "media_type_refused"
    status = 415


class Overloaded(VoiceError):
    """The server is busy; this request was refused at once."""

    code = "overloaded"
    retryable = True
    status = 503
    retry_after = 1


class DatabaseAway(VoiceError):
    """The database did not answer."""

    code = "database_away"
    retryable = True
    status = 503
    retry_after = 2


class NotReady(VoiceError):
    """The server cannot answer yet."""

    code = "not_ready"
    retryable = True
    status = 503
    retry_after = 5


class ServerFault(VoiceError):
    """The server made a mistake; it has been logged under the request id."""

    code = "server_fault"
    status = 500


# A refusal names what is wrong, however much of it there is, in a body of bounded size.
MOST_NAMED: Final = 20
LONGEST_NAME: Final = 100

# What rises from below and how this door says it; anything else from below is a ServerFault.
_FROM_BELOW: Final[Mapping[type[EarmarkError], int]] = {KeyRefused: 401, DeadlinePassed: 504}


def status_of(error: EarmarkError) -> int | None:
    """Return the HTTP status of an error, None for one that this door does not know."""
    if isinstance(error, VoiceError):
        return error.status
    return _FROM_BELOW.get(type(error))


def headers_of(error: EarmarkError) -> dict[str, str]:
    """Return the headers that go with an error."""
    if isinstance(error, KeyRefused):
        return {"WWW-Authenticate": 'Bearer realm="earmark"'}
    seconds = error.retry_after if isinstance(error, VoiceError) else None
    return {} if seconds is None else {"Retry-After": str(seconds)}


def envelope(error: EarmarkError) -> dict[str, Any]:
    """Return the body of every refusal."""
    fields: Fields = error.data.get("fields", {})
    named = {_printable(name): list(fields[name]) for name in list(fields)[:MOST_NAMED]}
    return {"error": {"code": error.code, "message": str(error), "fields": named}}


def _printable(name: str) -> str:
    return name[:LONGEST_NAME].encode("utf-8", "replace").decode("utf-8")
