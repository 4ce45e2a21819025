"""Save what changed on the page: onto the version it was read at, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from knowledge.models import Category
from knowledge.places import CONTAINER
from scopes.errors import ScopeChangedMeanwhile, SelectionGone
from scopes.models import AgentScope
from scopes.retaking import select_present
from scopes.selecting import explicit_picks
from scopes.selector.deltas import Delta, keys_of, picks_of
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import PhoneAgent


@dataclass(frozen=True)
class Onto:
    """The version to save onto, and the one on which the changes were made, when that is known."""

    version: int
    read: int | None

    @property
    def is_as_read(self) -> bool:
        """Whether what is changed is what was looked at; otherwise it is a merge."""
        return self.read == self.version


@dataclass(frozen=True)
class Saved:
    """What saving did: whether somebody had saved between, and what was no longer there."""

    is_merged: bool = False
    left_out: int = 0


def save(
    agent: PhoneAgent, category: str, delta: Delta, *, onto: Onto, by: Actor, at: datetime
) -> Saved:
    """Store a selection with these changes; changes already so need no saving.

    Raises: ScopeChangedMeanwhile, SelectionGone, DeltaRefused
    """
    if not delta:
        return Saved()
    stored = _stored(agent, category)
    try:
        picks = picks_of(delta.applied(stored), category)
        _refuse_opening(delta, stored, onto)
        if not onto.is_as_read and names_moved(agent, category, delta, onto.read):
            raise ScopeChangedMeanwhile
        left_out = select_present(agent, category, picks, version=onto.version, by=by, at=at)
    except ScopeChangedMeanwhile:
        # An answer that was lost on its way: what was asked is what is there.
        if not delta.clear and not delta.against(_stored(agent, category)):
            return Saved(is_merged=True)
        raise
    return Saved(left_out=left_out)


def leaves_nothing(agent: PhoneAgent, category: str, delta: Delta) -> bool:
    """Whether these changes take away all that is stored now, though nobody meant to clear it."""
    return _empties(delta, _stored(agent, category))


def names_moved(agent: PhoneAgent, category: str, delta: Delta, read: int | None) -> bool:
    """Whether these changes select folders by keys from before one was moved: they may name others now."""
    if category != Category.KNOWLEDGE or not any(key.startswith(CONTAINER) for key in delta.add):
        return False
    with organization_context(agent.organization_id):
        scope = AgentScope.objects.get(agent=agent, category=category)
    return scope.moved_version is not None and (read is None or read < scope.moved_version)


def _empties(delta: Delta, stored: frozenset[str]) -> bool:
    return not delta.clear and not delta.applied(stored)


def _refuse_opening(delta: Delta, stored: frozenset[str], onto: Onto) -> None:
    if not _empties(delta, stored):
        return
    if not delta.remove & stored:
        # What it takes away was removed for good; only a tick that is there can be the last one.
        raise SelectionGone
    if not onto.is_as_read:
        # Whoever took the last ticks away saw others beside them, and meant a restriction.
        raise ScopeChangedMeanwhile


def _stored(agent: PhoneAgent, category: str) -> frozenset[str]:
    with organization_context(agent.organization_id):
        return keys_of(explicit_picks(agent, category))
