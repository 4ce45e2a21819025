"""What an unsaved selection would change: the last logged queries, answered as now and as then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection

from knowledge.embedding.protocol import Embedder
from knowledge.models import SearchRecord
from knowledge.retrieval.deadline import Deadline
from knowledge.retrieval.eligibility import allowlist_gate, parameters
from knowledge.retrieval.pipeline import retrieve
from knowledge.retrieval.preparing import prepare
from knowledge.retrieval.types import Allowlist, Result, Understood
from scopes.resolution import allowlist_if
from scopes.selecting import Picks
from tenants.isolation import organization_context
from tenants.models import PhoneAgent

MOST_QUERIES: Final = 20
LOOKED_THROUGH: Final = 2_000
CHANNEL: Final = "phone"
RESULTS: Final = 5
MOST_COUNTED: Final = 1_000
_GOLDEN_OUTSIDE: Final = """
SELECT count(*) FROM (SELECT 1 FROM knowledge_item x
  WHERE x.organization_id = %(organization)s AND x.folder_key >= 'golden' AND x.folder_key < 'golden0'
    AND x.kind = 'golden' AND x.published_version IS NOT NULL AND x.deleted_at IS NULL
    AND NOT ({allowlist}) LIMIT %(most)s) AS outside
"""


@dataclass(frozen=True)
class Difference:
    """A query that would be answered otherwise, with titles of what is gained and lost."""

    queries: tuple[str, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True)
class Preview:
    """What a selection would change; `skipped` queries were left out when the time was over."""

    asked: int
    differences: list[Difference] = field(default_factory=list)
    skipped: int = 0
    golden_outside: int = 0


def preview(
    agent: PhoneAgent,
    picks: Mapping[str, Picks],
    *,
    embedder: Embedder,
    deadline: Deadline,
    at: datetime,
) -> Preview:
    """Return what would change for an unknown caller on the phone if these were the picks.

    No connection is held while queries are embedded; twenty queries at most, as long as there is time.
    """
    logged = _logged(agent)
    understood = _understood(agent, logged, embedder, deadline)
    differences: list[Difference] = []
    asked = 0
    with organization_context(agent.organization_id, snapshot=True):
        now, then = (_allowlist(agent, some, at) for some in ({}, picks))
        for queries, one in understood:
            if not deadline.remaining():
                break
            asked += 1
            differences += _difference(queries, one, now, then)
        return Preview(asked, differences, len(logged) - asked, golden_outside(then))


def _logged(agent: PhoneAgent) -> list[tuple[str, ...]]:
    """Return the last different questions of this agent, the newest first."""
    with organization_context(agent.organization_id):
        recent = SearchRecord.objects.filter(organization_id=agent.organization_id)
        newest = recent.order_by("-at", "id").values("pk")[:LOOKED_THROUGH]
        rows = SearchRecord.objects.filter(pk__in=newest, agent=agent).order_by("-at", "id")
        asked = [tuple(queries) for queries in rows.values_list("queries", flat=True) if queries]
    return list(dict.fromkeys(asked))[:MOST_QUERIES]


def _understood(
    agent: PhoneAgent, logged: list[tuple[str, ...]], embedder: Embedder, deadline: Deadline
) -> list[tuple[tuple[str, ...], Understood]]:
    ready = []
    for queries in logged:
        if not deadline.remaining():
            break
        understood = prepare(
            queries,
            organization_id=agent.organization_id,
            code_patterns=agent.organization.code_patterns,
            embedder=embedder,
            deadline=deadline,
        )
        ready.append((queries, understood))
    return ready


def _allowlist(agent: PhoneAgent, picks: Mapping[str, Picks], at: datetime) -> Allowlist:
    country = agent.organization.country or None
    return allowlist_if(agent, picks, channel=CHANNEL, country=country, at=at)


def _difference(
    queries: tuple[str, ...], understood: Understood, now: Allowlist, then: Allowlist
) -> list[Difference]:
    before, after = (
        _titles(retrieve(understood, allowlist, limit=RESULTS).results) for allowlist in (now, then)
    )
    if before.keys() == after.keys():
        return []
    gained = tuple(title for asset, title in after.items() if asset not in before)
    lost = tuple(title for asset, title in before.items() if asset not in after)
    return [Difference(queries, gained, lost)]


def _titles(results: tuple[Result, ...]) -> dict[UUID, str]:
    return {result.asset_id: result.title for result in results}


def golden_outside(allowlist: Allowlist) -> int:
    """Return how many published golden answers an allowlist leaves out, counted to a thousand."""
    gate = allowlist_gate("knowledge", allowlist.knowledge)
    values = parameters(allowlist) | {"most": MOST_COUNTED}
    with connection.cursor() as cursor:
        cursor.execute(_GOLDEN_OUTSIDE.format(allowlist=gate.sql), values)
        row: tuple[int] = cursor.fetchone()
    return row[0]
