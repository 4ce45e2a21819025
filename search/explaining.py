"""Why a result ranks where it does, and what relevance decided: for staff, never for a voice runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from knowledge.retrieval.policy import DEFAULT_POLICY, RetrievalPolicy
from knowledge.retrieval.types import Answer, Ranked

LEGS: Final[dict[str, str | Promise]] = {"dense": _("By meaning"), "lexical": _("By words")}
SHOWN: Final = 10
FOUND_BY_EACH: Final = 5


@dataclass(frozen=True)
class Support:
    """One leg's place for one query, from 1."""

    leg: str | Promise
    query: int
    rank: int


@dataclass(frozen=True)
class Explained:
    """One candidate, its place, and everything that put it there.

    Units: height in deviations of what questions about something else reach in this corpus; usual is
           the height of the corpus's own questions; moved, how much stricter the rule is for this
           corpus than for all, in log-odds.
    """

    place: int
    ranked: Ranked
    supports: tuple[Support, ...]
    possible: int
    height: float | None
    usual: float
    moved: float
    decided: str | Promise
    result: int | None = None

    @property
    def queries(self) -> int:
        """How many different queries found it."""
        return len({support.query for support in self.supports})

    @property
    def legs(self) -> int:
        """How many legs found it."""
        return len({str(support.leg) for support in self.supports})


@dataclass(frozen=True)
class LegFound:
    """What one leg put first for one query: rank and title."""

    leg: str | Promise
    query: str
    found: tuple[tuple[int, str], ...]


def explained(
    answer: Answer, queries: int, policy: RetrievalPolicy = DEFAULT_POLICY
) -> list[Explained]:
    """Return the candidates of an answer in their order, each with its reasons."""
    places = {result.asset_id: number for number, result in enumerate(answer.results, start=1)}
    return [
        Explained(
            place=number,
            ranked=ranked,
            supports=_supports(ranked),
            possible=len(LEGS) * queries,
            height=_height(ranked, answer.judged_by),
            usual=float(answer.judged_by.get("usual", 0.0)),
            moved=float(answer.judged_by.get("moved", 0.0)),
            decided=_decided(ranked, policy),
            result=places.get(ranked.asset_id),
        )
        for number, ranked in enumerate(answer.ranked, start=1)
    ]


def _supports(ranked: Ranked) -> tuple[Support, ...]:
    return tuple(
        Support(LEGS.get(leg, leg), int(query or 0) + 1, rank)
        for name, rank in ranked.ranks
        for leg, _colon, query in [name.partition(":")]
    )


def _height(ranked: Ranked, judged_by: dict[str, Any]) -> float | None:
    if ranked.cosine is None or not judged_by.get("deviation"):
        return None
    above = ranked.cosine - judged_by["level"] - judged_by["mean"]
    return float(above / judged_by["deviation"])


def _decided(ranked: Ranked, policy: RetrievalPolicy) -> str | Promise:
    if ranked.exact:
        return _("Asked word for word as the answer expects it.")
    if ranked.relevance < policy.relevance_floor:
        return _("Not near enough to be said.")
    if ranked.relevance < policy.weak_below:
        return _("Near enough, but weak.")
    if ranked.kind == "golden" and ranked.leads and ranked.relevance >= policy.golden_floor:
        return _("Near enough for a verified answer to come first.")
    return _("Near enough.")


def legs_found(answer: Answer, queries: Sequence[str]) -> list[LegFound]:
    """Return what each leg put first for each query."""
    told = []
    for leg, name in LEGS.items():
        for number, query in enumerate(queries):
            ranks = sorted(
                (rank, ranked.title)
                for ranked in answer.ranked
                for key, rank in ranked.ranks
                if key == f"{leg}:{number}"
            )
            told.append(LegFound(name, query, tuple(ranks[:FOUND_BY_EACH])))
    return told
