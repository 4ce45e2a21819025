"""The whole of retrieval, top to bottom; each step keeps its own rules."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from knowledge.retrieval.candidates import Probe, candidates
from knowledge.retrieval.centring import centred, level_of, middle_of, unpacked
from knowledge.retrieval.fusion import Corpus, favour_counts, fuse
from knowledge.retrieval.grounding import (
    WORDED,
    WORDLESS,
    Background,
    arrange,
    background_from,
    judge,
    verdict,
)
from knowledge.retrieval.leaning import leaning_of, withhold
from knowledge.retrieval.policy import DEFAULT_POLICY, RetrievalPolicy
from knowledge.retrieval.rendering import Asking, render
from knowledge.retrieval.siblings import ASK_WHICH, are_siblings
from knowledge.retrieval.space import SearchedSpace, space_for
from knowledge.retrieval.statistics import CorpusStatistics, statistics_for
from knowledge.retrieval.types import (
    CATEGORIES,
    Allowlist,
    Answer,
    Candidate,
    Ranked,
    Result,
    SearchStatus,
    Understood,
)

# Rows that may turn out to repeat one another; a longer limit never changes a shorter list.
_RENDERED = 24


def retrieve(
    asked: Understood, allowlist: Allowlist, *, limit: int, policy: RetrievalPolicy = DEFAULT_POLICY
) -> Answer:
    """Answer what the allowlist holds for this question, in the snapshot of the caller's transaction.

    Cost: two statements for the space and its statistics, then one for each category to find and one to render.
    """
    clock = Stopwatch(dict(asked.timings_ms))
    asked, space = _in_its_space(asked)
    space_id = space.pk if space else None
    statistics = _statistics(asked, allowlist, space_id)
    asked = _centred(asked, statistics)
    found = _candidates(asked, allowlist, statistics, Reach(space_id, policy))
    clock.lap("candidates")
    judging = partial(_judged, statistics=statistics, policy=policy)
    judged = withhold(judging(asked, found), leaning_of(asked, found, judging))
    arranged = arrange(judged, policy)
    clock.lap("fuse")
    asking = Asking(allowlist, asked.focus, policy)
    results = render(arranged[:_RENDERED], asking, limit=limit)
    clock.lap("render")
    status, guidance = verdict(_shown(arranged, results), asked.degraded, policy)
    if status is SearchStatus.OK and guidance is None and are_siblings(results[:2], asked.focus):
        guidance = ASK_WHICH
    return Answer(
        status=status,
        results=tuple(results),
        degraded=asked.degraded if results else (),
        guidance=guidance,
        digest=digest(results),
        ranked=tuple(judged[:50]),
        counts=_counts(found),
        timings_ms=clock.laps,
        profile_version=statistics.version,
        space_key=space.key if space else "",
        judged_by=asdict(_background(asked, statistics)),
    )


@dataclass(frozen=True)
class Reach:
    """Where the legs look, and how deep."""

    space_id: int | None
    policy: RetrievalPolicy


class Stopwatch:
    """Milliseconds by step."""

    def __init__(self, laps: dict[str, float] | None = None) -> None:
        self.laps = laps or {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Note the time since the lap before."""
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 2)
        self._last = now


def _in_its_space(asked: Understood) -> tuple[Understood, SearchedSpace | None]:
    """Vectors of two spaces are never compared: where the question's own space has gone, go without."""
    space = space_for(asked.space_key)
    if space is None or space.key == asked.space_key or asked.vectors is None:
        return asked, space
    return replace(asked, vectors=None, degraded=("dense",)), space


def _statistics(asked: Understood, allowlist: Allowlist, space_id: int | None) -> CorpusStatistics:
    tokens = sorted({token for query in asked.queries for token in query.tokens})
    return statistics_for(allowlist.organization_id, space_id, tokens)


def _centred(asked: Understood, statistics: CorpusStatistics) -> Understood:
    if asked.vectors is None:
        return asked
    languages = [query.language for query in asked.queries]
    return replace(
        asked, vectors=centred(asked.vectors, languages, unpacked(statistics.parameters))
    )


def _candidates(
    asked: Understood, allowlist: Allowlist, statistics: CorpusStatistics, reach: Reach
) -> list[Candidate]:
    if not asked.queries:
        return []
    probe = Probe(
        asked.queries,
        asked.vectors,
        reach.space_id,
        reach.policy.depth,
        reach.policy.lexical_rows,
        asked.pinned,
    )
    return [
        candidate
        for category in CATEGORIES
        for candidate in candidates(category, probe, allowlist, statistics)
    ]


def _judged(
    asked: Understood,
    found: Sequence[Candidate],
    *,
    statistics: CorpusStatistics,
    policy: RetrievalPolicy,
) -> list[Ranked]:
    corpus = _corpus(statistics, policy)
    fused = fuse(found, asked.queries, corpus, policy)
    ranking = favour_counts(fused, asked.focus, corpus.deviation, policy)
    return judge(ranking, _background(asked, statistics))


def _shown(arranged: Sequence[Ranked], results: Sequence[Result]) -> list[Ranked]:
    """Return the rows that a runtime sees: what is not told makes nothing surer."""
    told = {result.asset_id for result in results}
    return [ranked for ranked in arranged if ranked.asset_id in told]


def _corpus(statistics: CorpusStatistics, policy: RetrievalPolicy) -> Corpus:
    measured = statistics.cosine_deviation
    return Corpus(statistics.weight, policy.cosine_deviation if measured is None else measured)


def _background(asked: Understood, statistics: CorpusStatistics) -> Background:
    languages = [query.language for query in asked.queries]
    spoken = statistics.languages
    worded = not spoken or any(name == "" or name in spoken for name in languages)
    return background_from(
        statistics.parameters,
        languages,
        level=level_of(asked.vectors or (), middle_of(statistics.parameters)),
        rule=WORDED if worded else WORDLESS,
    )


def _counts(found: Sequence[Candidate]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for candidate in found:
        for leg in candidate.legs:
            key = f"{candidate.category}.{leg}"
            counts[key] = counts.get(key, 0) + 1
    return counts


def digest(results: Sequence[Result]) -> str:
    """Return one hash over what a runtime would see, in its order."""
    rows = [[result.type, result.id, result.chunk, result.content] for result in results]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
