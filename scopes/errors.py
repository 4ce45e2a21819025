"""Errors of scopes."""

from __future__ import annotations

from tenants.errors import EarmarkError


class ScopeChangedMeanwhile(EarmarkError):
    """Somebody else changed this scope after you opened it."""

    code = "scope_changed_meanwhile"


class PickRefused(EarmarkError):
    """Some of what was picked is not there."""

    code = "pick_refused"
