"""What the walls of a search let through to someone: either leg, and the statement that returns text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from knowledge.canaries import WORDS, Canary
from knowledge.embedding.protocol import Vector
from knowledge.retrieval.candidates import Probe, candidates
from knowledge.retrieval.policy import DEFAULT_POLICY
from knowledge.retrieval.query import understand
from knowledge.retrieval.rendering import Asking, ForeignRow, render
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.retrieval.types import CATEGORIES, Allowlist, Focus, Ranked

# No canary has this word: what is found by it was found by its vector. The statement is the one of
# every search, with both legs in it.
UNSAID: Final = "qzxvorn"
_DEPTH: Final = 1_000
_NO_LEG: Final[frozenset[str]] = frozenset()
_WIDE: Final = replace(DEFAULT_POLICY, characters_all=1_000_000)


Found = dict[UUID, frozenset[str]]


def found_by_words(allowlist: Allowlist, canaries: Sequence[Canary]) -> Found:
    """Return what is found by words, or let through where it is named by its id.

    Shape: asset id -> the legs that found it; none for what was only named.
    """
    queries = understand([WORDS], organization_id=allowlist.organization_id)
    pinned = [canary.id for canary in canaries]
    return _found(allowlist, Probe(queries, None, None, _DEPTH, _DEPTH, pinned=pinned))


def found_by_vectors(allowlist: Allowlist, space_id: int, vector: Vector) -> Found:
    """Return what is found near a canary's own vector, as above."""
    queries = understand([UNSAID], organization_id=allowlist.organization_id)
    return _found(allowlist, Probe(queries, [vector], space_id, _DEPTH, _DEPTH))


def told(allowlist: Allowlist, canaries: Sequence[Canary]) -> Found:
    """Return whose text is given away once it was found."""
    ranking = [_ranked(canary) for canary in canaries]
    try:
        results = render(ranking, Asking(allowlist, Focus(), _WIDE), limit=len(ranking))
    except ForeignRow:
        return {canary.id: _NO_LEG for canary in canaries}
    return {result.asset_id: _NO_LEG for result in results}


def _found(allowlist: Allowlist, probe: Probe) -> Found:
    return {
        candidate.asset_id: candidate.legs
        for category in CATEGORIES
        for candidate in candidates(category, probe, allowlist, CorpusStatistics())
    }


def _ranked(canary: Canary) -> Ranked:
    return Ranked(canary.category, canary.id, 0, "knowledge", "", "", 1.0, None, 0.0, (), ())
