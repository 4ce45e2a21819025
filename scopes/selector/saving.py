"""Save what changed on the page: onto the version it was read at, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from scopes.errors import ScopeChangedMeanwhile, SelectionGone
from scopes.retaking import select_present
from scopes.selecting import explicit_picks
from scopes.selector.deltas import Delta, keys_of, picks_of
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import PhoneAgent


@dataclass(frozen=True)
class Saved:
    """What saving did: whether somebody had saved between, and what was no longer there."""

    is_merged: bool = False
    left_out: int = 0


def save(
    agent: PhoneAgent, category: str, delta: Delta, *, version: int, by: Actor, at: datetime
) -> Saved:
    """Store a selection with these changes; changes already so need no saving.

    Raises: ScopeChangedMeanwhile, SelectionGone, DeltaRefused
    """
    if not delta:
        return Saved()
    stored = _stored(agent, category)
    try:
        picks = picks_of(delta.applied(stored), category)
        if not picks and not delta.clear and not delta.remove & stored:
            # What it takes away was removed for good; only a tick that is there can be the last one.
            raise SelectionGone
        left_out = select_present(agent, category, picks, version=version, by=by, at=at)
    except ScopeChangedMeanwhile:
        # An answer that was lost on its way: what was asked is what is there.
        if not delta.clear and not delta.against(_stored(agent, category)):
            return Saved(is_merged=True)
        raise
    return Saved(left_out=left_out)


def _stored(agent: PhoneAgent, category: str) -> frozenset[str]:
    with organization_context(agent.organization_id):
        return keys_of(explicit_picks(agent, category))
