"""Save what changed on the page: onto the version it was read at, or not at all."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from scopes.errors import PickRefused, ScopeChangedMeanwhile, SelectionGone
from scopes.selecting import Picks, explicit_picks, select
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
        left_out = _select(agent, category, delta.applied(stored), version=version, by=by, at=at)
    except ScopeChangedMeanwhile:
        # An answer that was lost on its way: what was asked is what is there.
        if not delta.clear and not delta.against(_stored(agent, category)):
            return Saved(is_merged=True)
        raise
    return Saved(left_out=left_out)


def _stored(agent: PhoneAgent, category: str) -> frozenset[str]:
    with organization_context(agent.organization_id):
        return keys_of(explicit_picks(agent, category))


def _select(
    agent: PhoneAgent,
    category: str,
    keys: Collection[str],
    *,
    version: int,
    by: Actor,
    at: datetime,
) -> int:
    picks = picks_of(keys, category)
    try:
        select(agent, category, picks, version=version, by=by, at=at)
    except PickRefused as refusal:
        kept = without(picks, refusal.data["refused"])
        if not kept:
            raise SelectionGone from refusal
        select(agent, category, kept, version=version, by=by, at=at)
        return len(refusal.data["refused"])
    return 0


def without(picks: Picks, refused: Collection[str]) -> Picks:
    """Return picks without the ones that were refused by name."""
    return replace(
        picks,
        rows=frozenset(row for row in picks.rows if str(row) not in refused),
        containers=frozenset(one for one in picks.containers if str(one) not in refused),
    )
