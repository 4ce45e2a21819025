"""What can go wrong while the product is put together."""

from __future__ import annotations

from tenants.errors import EarmarkError


class StartError(EarmarkError):
    """A part of the product did not start."""

    code = "not_started"


class EmbeddedServerError(EarmarkError):
    """The embedded PostgreSQL server could not be started."""

    code = "embedded_server"


class RehearsalFailed(EarmarkError):
    """The backup could not be restored."""

    code = "rehearsal_failed"
