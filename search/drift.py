"""How live searches have fared, by day and by agent, from the records of them; nothing of what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection

from knowledge.retrieval.policy import DEFAULT_POLICY
from search.as_agent import DOOR
from tenants.isolation import organization_context

# In the order in which a search goes through them.
STEPS: Final = ("embed", "scope", "candidates", "fuse", "render")
RANGES: Final = (7, 30, 90)
MOST: Final = 50_000
_SPREAD: Final = "percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY {step})"
# The newest of the range at most, read by their index; then one sort by group.
_COUNTED: Final = f"""
WITH r AS MATERIALIZED (
  SELECT (at AT TIME ZONE 'utc')::date AS day, agent_id, status, cardinality(degraded) > 0 AS degraded,
         status = 'ok' AND (SELECT max((x ->> 'relevance')::float8) FROM jsonb_array_elements(results) x)
           < %(weak)s AS weak,
         {", ".join(f"(timings_ms ->> '{step}')::float8 AS {step}" for step in STEPS)},
         (SELECT sum(value::float8) FROM jsonb_each_text(timings_ms)) AS total
    FROM knowledge_searchrecord
   WHERE organization_id = %(organization)s AND at >= %(since)s AND at < %(until)s AND door <> %(staff)s
     AND (%(agent)s::uuid IS NULL OR agent_id = %(agent)s)
   ORDER BY at DESC LIMIT %(most)s)
SELECT grouping(day), grouping(agent_id), day, agent_id, count(*),
       count(*) FILTER (WHERE status = 'no_match'), count(*) FILTER (WHERE weak),
       count(*) FILTER (WHERE degraded OR status IN ('timeout', 'unavailable')),
       {", ".join(_SPREAD.format(step=step) for step in (*STEPS, "total"))}
  FROM r GROUP BY GROUPING SETS ((day), (agent_id), ()) ORDER BY day, agent_id
"""  # noqa: S608 - composed of constants; every value is bound


@dataclass(frozen=True)
class Spread:
    """Units: milliseconds."""

    p50: float
    p95: float


@dataclass(frozen=True)
class Fared:
    """How some searches fared.

    Units: percentages of the searches, 0 to 100.
    """

    searches: int
    no_match: int
    weak: int
    degraded: int
    steps: dict[str, Spread]
    total: Spread | None

    @property
    def no_match_percent(self) -> float:
        """Where nothing was near enough."""
        return self._percent(self.no_match)

    @property
    def weak_percent(self) -> float:
        """Where what was found was barely near enough."""
        return self._percent(self.weak)

    @property
    def degraded_percent(self) -> float:
        """Where a leg failed, or the whole search."""
        return self._percent(self.degraded)

    def _percent(self, count: int) -> float:
        return 100 * count / self.searches if self.searches else 0.0


NOTHING: Final = Fared(0, 0, 0, 0, {}, None)


@dataclass(frozen=True)
class Drift:
    """The searches of a range: all of them, by day (days without any are left out), and by agent.

    `is_cut` says that there were more than are counted; the oldest are left out.
    """

    days: Sequence[tuple[date, Fared]]
    agents: Sequence[tuple[UUID | None, Fared]]
    all: Fared

    @property
    def is_cut(self) -> bool:
        """Whether the range held more."""
        return self.all.searches >= MOST


def drift(organization_id: int, *, days: int, at: datetime, agent_id: UUID | None = None) -> Drift:
    """Return how the searches of callers fared in so many days.

    Cost: one statement over 50,000 records at most, about two seconds for so many.
    """
    values: dict[str, Any] = {
        "organization": organization_id,
        "since": at - timedelta(days=days),
        "until": at,
        "agent": agent_id,
        "staff": DOOR,
        "weak": DEFAULT_POLICY.weak_below,
        "most": MOST,
    }
    with organization_context(organization_id), connection.cursor() as cursor:
        cursor.execute(_COUNTED, values)
        rows = cursor.fetchall()
    return Drift(
        days=[(row[2], _fared(row)) for row in rows if (row[0], row[1]) == (0, 1)],
        agents=[(row[3], _fared(row)) for row in rows if (row[0], row[1]) == (1, 0)],
        all=next((_fared(row) for row in rows if (row[0], row[1]) == (1, 1)), NOTHING),
    )


def _fared(row: tuple[Any, ...]) -> Fared:
    spreads = dict(zip((*STEPS, "total"), map(_spread, row[8:]), strict=True))
    total = spreads.pop("total")
    steps = {step: spread for step, spread in spreads.items() if spread is not None}
    return Fared(row[4], row[5], row[6], row[7], steps, total)


def _spread(found: Sequence[float | None] | None) -> Spread | None:
    if not found or found[0] is None or found[1] is None:
        return None
    return Spread(round(found[0], 2), round(found[1], 2))
