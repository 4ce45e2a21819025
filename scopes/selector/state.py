"""The state of one category of an agent's scope, as the head of its root shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from knowledge.models import Category
from knowledge.retrieval.types import CategoryName, Selection
from scopes.models import AgentScope, Mode
from scopes.resolution import allowlist_for
from scopes.selector.deltas import Delta
from scopes.selector.picked import Picked
from tenants.models import PhoneAgent


@dataclass(frozen=True)
class RootState:
    """What is stored of a category, and what is changed on the page."""

    category: str
    version: int
    saved: int
    is_restricted: bool
    is_vacant: bool
    changed_at: datetime | None
    changed_by: str
    delta: Delta = field(default_factory=Delta)

    @property
    def count(self) -> int:
        """Return how many picks saving would leave."""
        return self.delta.count(self.saved)

    @property
    def unsaved(self) -> int:
        """Return how many changes are not saved."""
        cleared = max(1, self.saved) if self.delta.clear else 0
        return len(self.delta.add) + len(self.delta.remove) + cleared

    @property
    def words(self) -> str:
        """Return which of the three sentences is true: `all`, `selected` or `vacant`."""
        if self.count:
            return "vacant" if self.is_vacant and not self.delta else "selected"
        return "vacant" if self.is_restricted and not self.saved and not self.delta else "all"


def root_states(agent: PhoneAgent, at: datetime, deltas: dict[str, Delta]) -> dict[str, RootState]:
    """Return the state of both categories; a category without a stored mode is not there.

    Cost: about a dozen short statements.
    """
    stored = AgentScope.objects.filter(
        organization_id=agent.organization_id, agent=agent
    ).select_related("changed_by")
    allowlist = allowlist_for(agent, contact=None, channel="", country=None, at=at)
    states = {}
    for scope in stored:
        category: CategoryName = "knowledge" if scope.category == "knowledge" else "instruction"
        limit = allowlist.scope(category)
        saved = Picked(agent, scope.category).count()
        states[scope.category] = RootState(
            category=scope.category,
            version=scope.version,
            saved=saved,
            is_restricted=scope.mode == Mode.SELECTED or saved > 0,
            is_vacant=isinstance(limit, Selection) and limit.is_vacant,
            changed_at=scope.changed_at,
            changed_by=str(scope.changed_by or ""),
            delta=deltas.get(scope.category, Delta()),
        )
    return {name: states[name] for name in Category.values if name in states}
