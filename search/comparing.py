"""The last questions that were really asked, in two embedding spaces: what a switch would change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np

from knowledge.models import EmbeddingSpace, SearchRecord
from knowledge.retrieval.types import Answer
from search.as_agent import DOOR, USUAL_CHANNEL, Call
from search.trying import Variant, try_variant
from tenants.isolation import organization_context
from tenants.models import Organization, PhoneAgent

COMPARED: Final = 5
LAST: Final = 200
NAMED: Final = 10


@dataclass(frozen=True)
class Logged:
    """One question of the log, and who was asked it."""

    agent: PhoneAgent
    queries: tuple[str, ...]


@dataclass
class Side:
    """What one space answered."""

    key: str
    no_match: int = 0
    degraded: int = 0
    embed_ms: list[float] = field(default_factory=list)
    search_ms: list[float] = field(default_factory=list)

    def as_dict(self, compared: int) -> dict[str, Any]:
        """Return its figures.

        Units: shares of the questions; milliseconds.
        """
        return {
            "space": self.key,
            "no_match": _share(self.no_match, compared),
            "degraded": _share(self.degraded, compared),
            "embed_ms": _spread(self.embed_ms),
            "search_ms": _spread(self.search_ms),
        }


@dataclass
class Comparison:
    """What the same questions find in two spaces; `gained` and `lost` are titles by how often."""

    now: Side
    then: Side
    questions: int = 0
    same_top: int = 0
    overlaps: list[float] = field(default_factory=list)
    gained: Counter[tuple[UUID, str]] = field(default_factory=Counter)
    lost: Counter[tuple[UUID, str]] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values; shares lie in [0, 1]."""
        mean = round(sum(self.overlaps) / len(self.overlaps), 4) if self.overlaps else None
        return {
            "questions": self.questions,
            "same_top": _share(self.same_top, self.questions),
            "overlap_at_5": mean,
            "now": self.now.as_dict(self.questions),
            "then": self.then.as_dict(self.questions),
            "gained": _named(self.gained),
            "lost": _named(self.lost),
        }


def logged(organizations: Iterable[Organization], *, most: int = LAST) -> list[Logged]:
    """Return the last different questions that callers of these organizations asked, newest first.

    Cost: one statement for each organization.
    """
    found: list[tuple[datetime, Logged]] = []
    for organization in organizations:
        with organization_context(organization.pk):
            found += _of(organization, most)
    ordered = sorted(found, key=lambda pair: pair[0], reverse=True)
    return [one for _, one in ordered[:most]]


def _of(organization: Organization, most: int) -> Iterator[tuple[datetime, Logged]]:
    records = (
        SearchRecord.objects.filter(organization=organization, agent__isnull=False)
        .exclude(door=DOOR)
        .select_related("agent__organization")
        .order_by("-at", "id")[: 4 * most]
    )
    seen: set[tuple[Any, ...]] = set()
    for record in records:
        queries = tuple(map(str, record.queries))
        if queries and record.agent and (record.agent_id, queries) not in seen:
            seen.add((record.agent_id, queries))
            yield record.at, Logged(record.agent, queries)


def compare(
    questions: Sequence[Logged], now: EmbeddingSpace, then: EmbeddingSpace, *, at: datetime
) -> Iterator[Comparison]:
    """Ask each question in both spaces, in turns; yield the comparison so far after each.

    Every question is asked as by a caller whom nobody knows. Nothing is recorded.
    Raises: EmbeddingMisconfigured
    Cost:   two searches for each question.
    """
    told = Comparison(Side(now.key), Side(then.key))
    call = Call(None, USUAL_CHANNEL, None, at)
    sides = ((told.now, Variant(space=now)), (told.then, Variant(space=then)))
    for number, question in enumerate(questions):
        answers: dict[str, Answer] = {}
        # Whichever is asked second finds the pages warm; so they take turns.
        for side, variant in sides if number % 2 else reversed(sides):
            answers[side.key] = try_variant(
                question.agent, question.queries, call, variant, limit=COMPARED
            )
            _note(side, answers[side.key])
        _match(told, answers[now.key], answers[then.key])
        yield told


def _note(side: Side, answer: Answer) -> None:
    side.no_match += answer.status == "no_match"
    side.degraded += bool(answer.degraded)
    laps = dict(answer.timings_ms)
    side.embed_ms.append(laps.pop("embed", 0.0))
    side.search_ms.append(sum(laps.values()))


def _match(told: Comparison, now: Answer, then: Answer) -> None:
    before, after = _results(now), _results(then)
    told.questions += 1
    told.same_top += list(before)[:1] == list(after)[:1]
    most = max(len(before), len(after))
    told.overlaps.append(len(before.keys() & after.keys()) / most if most else 1.0)
    told.gained.update((asset, title) for asset, title in after.items() if asset not in before)
    told.lost.update((asset, title) for asset, title in before.items() if asset not in after)


def _results(answer: Answer) -> dict[UUID, str]:
    return {result.asset_id: result.title for result in answer.results}


def _share(count: int, of: int) -> float | None:
    return round(count / of, 4) if of else None


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    p50, p95 = np.percentile(values, [50, 95])
    return {"p50": round(float(p50), 2), "p95": round(float(p95), 2)}


def _named(counted: Counter[tuple[UUID, str]]) -> list[dict[str, Any]]:
    return [
        {"id": str(asset), "title": title, "times": times}
        for (asset, title), times in sorted(
            counted.items(), key=lambda pair: (-pair[1], str(pair[0][0]))
        )[:NAMED]
    ]
