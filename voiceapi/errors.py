"""What the voice API refuses: the facts, and the HTTP status each is said with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from knowledge.retrieval.deadline import DeadlinePassed
from tenants.errors import EarmarkError
from tenants.keys import KeyRefused
from tenants.refusals import (
    BodyTooLarge,
    DatabaseAway,
    InvalidRequest,
    LengthMissing,
    MalformedBody,
    MediaTypeRefused,
    MethodRefused,
    NotFound,
    ServerFault,
    envelope,
)
from tenants.refusals import RequestRefused as VoiceError

__all__ = [
    "BodyTooLarge",
    "ContractMismatch",
    "ContractMissing",
    "DatabaseAway",
    "InvalidRequest",
    "LengthMissing",
    "MalformedBody",
    "MediaTypeRefused",
    "MethodRefused",
    "NotFound",
    "NotReady",
    "Overloaded",
    "RateLimited",
    "ServerFault",
    "VoiceError",
    "envelope",
    "headers_of",
    "status_of",
]


class ContractMissing(VoiceError):
    """The header X-Earmark-Contract is required: it names the version that you speak."""

    code = "contract_missing"


class ContractMismatch(VoiceError):
    """The contract version that you asked for is not served here."""

    code = "contract_mismatch"
    status = 409


class Overloaded(VoiceError):
    """The server is busy; this request was refused at once."""

    code = "overloaded"
    retryable = True
    status = 503
    retry_after = 1


class RateLimited(VoiceError):
    """More requests than this key, organization or session may make; wait, then go on."""

    code = "rate_limited"
    retryable = True
    status = 429
    retry_after = 1


class NotReady(VoiceError):
    """The server cannot answer yet."""

    code = "not_ready"
    retryable = True
    status = 503
    retry_after = 5


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
    if not isinstance(error, VoiceError):
        return {}
    seconds = error.data.get("wait", error.retry_after)
    return {} if seconds is None else {"Retry-After": str(seconds)}
