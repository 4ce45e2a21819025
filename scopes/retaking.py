"""Take a selection over as far as it is still there: after a tick, from the past, from another agent.

A selection that restricted never becomes one that opens: when nothing of it is left, it is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Func, IntegerField, QuerySet, Value
from django.db.models.functions import Coalesce

from knowledge.models import Category
from knowledge.shelving.tracing import trace
from scopes.errors import PickRefused, ScopeChangedMeanwhile, SelectionGone
from scopes.models import AgentScope, Mode
from scopes.selecting import SELECT, Picks, explicit_picks, select
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import AuditEntry, PhoneAgent


def select_present(
    agent: PhoneAgent,
    category: str,
    picks: Picks,
    *,
    version: int,
    by: Actor,
    at: datetime,
) -> int:
    """Make these the picks, without those that are no longer there; return how many were left out.

    Raises: ScopeChangedMeanwhile, SelectionGone
    """
    try:
        select(agent, category, picks, version=version, by=by, at=at)
    except PickRefused as refusal:
        kept = _without(picks, refusal.data["refused"])
        if not kept:
            raise SelectionGone from refusal
        select(agent, category, kept, version=version, by=by, at=at)
        return len(refusal.data["refused"])
    return 0


def _without(picks: Picks, refused: Collection[str]) -> Picks:
    return replace(
        picks,
        rows=frozenset(row for row in picks.rows if str(row) not in refused),
        containers=frozenset(one for one in picks.containers if str(one) not in refused),
    )


@dataclass(frozen=True)
class PastSelection:
    """A selection as it was after a change."""

    category: str
    is_restricted: bool
    picks: Picks
    # How many of its folders are not the same any more: another one has their name.
    gone: int = 0


def changes_of(agent: PhoneAgent, *, most: int) -> list[AuditEntry]:
    """Return the newest changes of an agent's scope, with counts instead of long lists.

    Shape: each entry has `category`, `mode`, `count_before` and `count_after`.
    """
    return list(
        _changes(agent)
        .annotate(
            category=F("after__category"),
            mode=F("after__mode"),
            count_before=_length("before"),
            count_after=_length("after"),
        )
        .defer("before", "after")
        .order_by("-at", "-id")[:most]
    )


def _changes(agent: PhoneAgent) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(
        organization_id=agent.organization_id,
        subject_type="agent",
        subject_id=str(agent.pk),
        verb=SELECT,
    )


def _length(column: str) -> Any:
    rows, containers = (
        Coalesce(
            Func(F(f"{column}__{part}"), function="jsonb_array_length"),
            Value(0),
            output_field=IntegerField(),
        )
        for part in ("rows", "containers")
    )
    return rows + containers


def past_selection(agent: PhoneAgent, entry_id: UUID) -> PastSelection | None:
    """Return the selection that a change left, or None when this agent had no such change.

    Folders that were renamed or moved since are followed.
    """
    entry = _changes(agent).filter(pk=entry_id).first()
    if entry is None:
        return None
    after = entry.after
    category, told = after["category"], _picks(after, after["category"])
    picks = _traced(agent, told, entry.at) if category == Category.KNOWLEDGE else told
    gone = len(told.containers) - len(picks.containers)
    return PastSelection(category, after["mode"] == Mode.SELECTED, picks, gone)


def _traced(agent: PhoneAgent, picks: Picks, since: datetime) -> Picks:
    """Follow folders to the keys that they have now; a name that another folder took is left out."""
    traced = trace(agent.organization_id, since)
    places = {traced.now(key) for key in picks.containers} - {None}
    return replace(picks, containers=frozenset(places))


def _picks(told: dict[str, Any], category: str) -> Picks:
    containers: list[Any] = told["containers"]
    if category == Category.INSTRUCTION:
        containers = [UUID(one) for one in containers]
    return Picks(frozenset(UUID(row) for row in told["rows"]), frozenset(containers))


def restore_selection(
    agent: PhoneAgent, past: PastSelection, *, version: int, by: Actor, at: datetime
) -> int:
    """Make a past selection the present one, as a new change; return how many were left out.

    Raises: ScopeChangedMeanwhile, SelectionGone
    """
    if past.is_restricted and not past.picks:
        raise SelectionGone
    left_out = select_present(agent, past.category, past.picks, version=version, by=by, at=at)
    return left_out + past.gone


def selection_of(agent: PhoneAgent, category: str, *, version: int) -> PastSelection:
    """Return an agent's selection of a version, to be taken over by another one.

    Raises: ScopeChangedMeanwhile
    """
    with organization_context(agent.organization_id):
        picks = explicit_picks(agent, category)
        # Looked at after the picks: while the version is the same, so are they.
        scopes = AgentScope.objects.filter(organization_id=agent.organization_id, agent=agent)
        seen = scopes.filter(category=category, version=version).first()
    if seen is None:
        raise ScopeChangedMeanwhile
    return PastSelection(category, bool(picks) or seen.mode != Mode.ALL, picks)


@dataclass(frozen=True)
class Turn:
    """What one change added and took away, as keys of picks."""

    category: str
    added: Picks
    removed: Picks


def turn_of(agent: PhoneAgent, entry_id: UUID) -> tuple[AuditEntry, Turn] | None:
    """Return a change with what it added and took away, or None when there is no such change."""
    entry = _changes(agent).filter(pk=entry_id).first()
    if entry is None:
        return None
    before, after = (_picks(told, entry.after["category"]) for told in (entry.before, entry.after))
    added = Picks(after.rows - before.rows, after.containers - before.containers)
    removed = Picks(before.rows - after.rows, before.containers - after.containers)
    return entry, Turn(entry.after["category"], added, removed)
