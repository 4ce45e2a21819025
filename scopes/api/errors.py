"""What the scope API refuses."""

from __future__ import annotations

from tenants.api.errors import ApiRefused


class ScopeVersionChanged(ApiRefused):
    """Somebody else changed this scope after you read it; both sides are in `sides`."""

    code = "scope_version_changed"
    status = 409


class PicksUnknown(ApiRefused):
    """Some of these are not in the organization; `fields` names them."""

    code = "picks_unknown"
    status = 422


class PicksMissing(ApiRefused):
    """No picks would make everything searchable; say so with DELETE."""

    code = "picks_missing"
    status = 422
