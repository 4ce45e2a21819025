"""Errors of scopes."""

from __future__ import annotations

from tenants.errors import EarmarkError


class ScopeChangedMeanwhile(EarmarkError):
    """Somebody else changed this scope after you opened it."""

    code = "scope_changed_meanwhile"


class PickRefused(EarmarkError):
    """Some of what was picked is not there."""

    code = "pick_refused"


class DeltaRefused(EarmarkError):
    """The changes that the page sent cannot be read."""

    code = "delta_refused"


class SelectionGone(EarmarkError):
    """Nothing of that selection is there any more; taking it over would open everything."""

    code = "selection_gone"
