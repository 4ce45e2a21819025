"""What the people's API refuses beyond what every door refuses."""

from __future__ import annotations

from typing import Any

from tenants.errors import EarmarkError
from tenants.refusals import RequestRefused


class ApiRefused(RequestRefused):
    """The API refused this request."""

    code = "api_refused"


class RoleRequired(ApiRefused):
    """You do not have the role that this needs."""

    code = "role_required"
    status = 403


class CsrfRefused(ApiRefused):
    """A browser's session has to send the CSRF token with everything that changes something."""

    code = "csrf_refused"
    status = 403


class VersionMissing(ApiRefused):
    """Say in If-Match which version you mean to change; it is the ETag that you read."""

    code = "version_missing"
    status = 428


class VersionChanged(ApiRefused):
    """Somebody else changed this after you read it; both sides are in `sides`."""

    code = "version_changed"
    status = 412


class KeyReused(ApiRefused):
    """This Idempotency-Key was sent before with another request."""

    code = "idempotency_key_reused"
    status = 422


class CursorRefused(ApiRefused):
    """The cursor is not one that this list gave out."""

    code = "cursor_refused"


def sides_of(error: EarmarkError) -> dict[str, Any] | None:
    """Return what the caller sent and what is there now, where an error carries both."""
    sides: dict[str, Any] | None = error.data.get("sides")
    return sides
