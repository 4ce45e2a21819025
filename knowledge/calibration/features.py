"""What each question finds in a corpus, in the two features that relevance is judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from knowledge.calibration.asking import Imitated, Question
from knowledge.calibration.corpus import Place, entries
from knowledge.calibration.scoring import NOWHERE, Scores
from knowledge.models import CalibrationProfile, CorpusTerm
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.retrieval.types import Query
from tenants.isolation import organization_context

Feature = tuple[float, float]
Words = Mapping[Place, tuple[str, frozenset[int]]]
WORDLESS: Final[tuple[str, frozenset[int]]] = ("", frozenset())
# A sentence shares every word with its own passage, a caller's question about half; a short question
# to a golden answer a third.
IMITATED_SHARES: Final[Mapping[Imitated, float]] = {"sentence": 0.5, "phrasing": 0.3}


def features_of(
    profile: CalibrationProfile, asked: Sequence[Question], scores: Scores
) -> list[Feature | None]:
    """Return cosine and lexical share of each question's best passage; None where there is none."""
    words = entries(profile.organization_id, sorted({place for place in scores.places if place}))
    statistics = _statistics(profile, asked)
    features: list[Feature | None] = []
    for question, place, best, own in zip(
        asked, scores.places, scores.best, scores.own, strict=True
    ):
        reached = float(max(best, own))
        if reached <= NOWHERE:
            features.append(None)
        elif question.imitates:
            features.append((reached, IMITATED_SHARES[question.imitates]))
        else:
            found = words.get(place, WORDLESS) if place else WORDLESS
            features.append((reached, _share(question.query, found, statistics)))
    return features


def _statistics(profile: CalibrationProfile, asked: Sequence[Question]) -> CorpusStatistics:
    tokens = sorted({token for question in asked for token in question.query.tokens})
    with organization_context(profile.organization_id):
        rows = CorpusTerm.objects.filter(
            organization_id=profile.organization_id, profile=profile, token__in=tokens
        )
        return CorpusStatistics(
            passages=profile.passages, frequencies=dict(rows.values_list("token", "passages"))
        )


def _share(
    query: Query, passage: tuple[str, frozenset[int]], statistics: CorpusStatistics
) -> float:
    # As fusion counts it: words in the passage's language, codes in any.
    language, tokens = passage
    counting = query.tokens if not language or query.language in ("", language) else query.codes
    total = sum(statistics.weight(token) for token in query.tokens)
    held = sum(statistics.weight(token) for token in sorted(tokens & counting))
    return held / total if total else 0.0
