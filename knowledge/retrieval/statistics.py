"""What is known of a corpus, read from its calibration profile and from nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from knowledge.models import CalibrationProfile, CorpusTerm


@dataclass(frozen=True)
class CorpusStatistics:
    """The figures a search computes with; neutral where nothing has been measured yet.

    Units: weights are inverse document frequencies in nats, at least the weight of a token that
    every passage holds; cosine_deviation is the mean within-query deviation of cosine.
    """

    version: int | None = None
    passages: int = 0
    cosine_deviation: float | None = None
    languages: tuple[str, ...] = ()
    frequencies: dict[int, int] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)

    def weight(self, token: int) -> float:
        """Return how much a token tells."""
        found = min(self.frequencies.get(token, 0), self.passages)
        return math.log(1 + (self.passages - found + 0.5) / (found + 0.5))

    def rarest(self, tokens: Iterable[int], most_rows: int) -> list[int]:
        """Return the rarest tokens that together bring in at most so many rows, one at least."""
        chosen: list[int] = []
        rows = 0
        for token in sorted(tokens, key=lambda t: (self.frequencies.get(t, 0), t)):
            rows += self.frequencies.get(token, 0)
            if chosen and rows > most_rows:
                break
            chosen.append(token)
        return chosen

    def rows(self, tokens: Iterable[int]) -> int:
        """Return how many rows the tokens bring in at most."""
        return sum(self.frequencies.get(token, 0) for token in tokens)


def statistics_for(
    organization_id: int, space_id: int | None, tokens: Iterable[int]
) -> CorpusStatistics:
    """Return the active profile's figures for these tokens.

    Cost: two statements.
    """
    profile = CalibrationProfile.objects.filter(
        organization_id=organization_id, space_id=space_id, is_active=True
    ).first()
    if profile is None:
        return CorpusStatistics()
    return CorpusStatistics(
        version=profile.version,
        passages=profile.passages,
        cosine_deviation=profile.cosine_deviation,
        languages=tuple(profile.languages),
        frequencies=_frequencies(organization_id, profile.pk, tokens),
        parameters=profile.parameters,
    )


def _frequencies(organization_id: int, profile_id: UUID, tokens: Iterable[int]) -> dict[int, int]:
    rows = CorpusTerm.objects.filter(
        organization_id=organization_id, profile_id=profile_id, token__in=list(tokens)
    )
    return dict(rows.values_list("token", "passages"))
