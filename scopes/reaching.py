"""Who can find a row: for every agent the gates that decide, and the callers it is kept for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from knowledge.folders import ancestors
from knowledge.models import Instruction, Item
from knowledge.retrieval.types import Allowlist, CategoryName, Everything
from scopes.explain import Verdict, explain
from scopes.models import DirectoryPick, FolderPick
from scopes.resolution import allowlist_for
from tenants.models import PhoneAgent, Segment

MOST_AGENTS: Final = 100
# What depends on the call; everything else depends on the row, the agent and the instant alone.
OF_THE_CALL: Final = ("channel", "segment", "jurisdiction")


@dataclass(frozen=True)
class Reach:
    """Whether one agent finds a row, and why.

    Shape: `way` is `all`, `row` or `container` when its scope has the row; `through` names the
    container; `kept_out_by` names gates.
    """

    agent: PhoneAgent
    way: str
    through: str
    kept_out_by: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Callers:
    """Which callers a row is kept for; None where it is for all, an empty list where for nobody."""

    segments: list[str] | None
    channels: list[str] | None
    jurisdictions: list[str] | None

    @property
    def are_none(self) -> bool:
        """Whether some list is empty, so that nobody is reached."""
        return [] in (self.segments, self.channels, self.jurisdictions)


def callers_of(row: Item | Instruction) -> Callers:
    """Return which callers a row is kept for.

    Cost: one statement when it is kept for segments.
    """
    segments = Segment.objects.filter(organization_id=row.organization_id, pk__in=row.segments)
    return Callers(
        segments=list(segments.values_list("name", flat=True)) if row.segment_restricted else None,
        channels=list(row.channels) if row.channel_restricted else None,
        jurisdictions=list(row.jurisdictions) if row.jurisdiction_restricted else None,
    )


def who_finds(category: CategoryName, row: Item | Instruction, *, at: datetime) -> list[Reach]:
    """Return for every active agent of the row's organization whether it finds the row.

    Cost: about ten short statements for each agent, a hundred agents at most.
    """
    agents = PhoneAgent.objects.filter(organization_id=row.organization_id, is_active=True)
    return [_reach(agent, category, row, at) for agent in agents[:MOST_AGENTS]]


def _reach(
    agent: PhoneAgent, category: CategoryName, row: Item | Instruction, at: datetime
) -> Reach:
    allowlist = allowlist_for(agent, contact=None, channel="", country=None, at=at)
    verdicts: list[Verdict] = explain(category, row.pk, allowlist) or []
    failed = [v.gate for v in verdicts if not v.passes and v.gate not in OF_THE_CALL]
    way, through = ("", "")
    if "allowlist" not in failed:
        way, through = _way(agent, category, row, allowlist)
    return Reach(agent, way, through, failed)


def _way(
    agent: PhoneAgent, category: CategoryName, row: Any, allowlist: Allowlist
) -> tuple[str, str]:
    scope = allowlist.scope(category)
    if isinstance(scope, Everything):
        return "all", ""
    if row.pk in scope.ids:
        return "row", ""
    where = {"organization_id": agent.organization_id, "agent_id": agent.pk}
    if category == "knowledge":
        around = (*ancestors(row.folder_key), row.folder_key)
        keys = FolderPick.objects.filter(**where, folder_key__in=around)
        return "container", max(keys.values_list("folder_key", flat=True), key=len, default="")
    return "container", _directory_around(where, row)


def _directory_around(where: dict[str, Any], row: Instruction) -> str:
    picked = set(DirectoryPick.objects.filter(**where).values_list("directory_id", flat=True))
    directory = row.directory
    while directory is not None and directory.pk not in picked:
        directory = directory.parent
    return directory.name if directory else ""
