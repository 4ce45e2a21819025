"""What is known of a corpus, read from its calibration profile and from nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from tenants.prepared import rows_of

_PROFILE: Final = """
SELECT p.version, p.passages, p.cosine_deviation, p.languages, p.parameters,
       ARRAY(SELECT t.token FROM knowledge_corpusterm t
              WHERE t.organization_id = p.organization_id AND t.profile_id = p.id
                AND t.token = ANY(%(tokens)s::bigint[]) ORDER BY t.token),
       ARRAY(SELECT t.passages FROM knowledge_corpusterm t
              WHERE t.organization_id = p.organization_id AND t.profile_id = p.id
                AND t.token = ANY(%(tokens)s::bigint[]) ORDER BY t.token)
  FROM knowledge_calibrationprofile p
 WHERE p.organization_id = %(organization)s AND p.space_id = %(space)s::bigint AND p.is_active
"""


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

    Cost: one statement.
    """
    values = {"organization": organization_id, "space": space_id, "tokens": list(tokens)}
    for version, passages, deviation, languages, parameters, known, counts in rows_of(
        _PROFILE, values
    ):
        return CorpusStatistics(
            version=version,
            passages=passages,
            cosine_deviation=deviation,
            languages=tuple(languages),
            frequencies=dict(zip(known, counts, strict=True)),
            parameters=parameters,
        )
    return CorpusStatistics()
