"""Turn what both legs found for all queries into one ranking of truth rows; pure arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from uuid import UUID

from knowledge.retrieval.policy import RetrievalPolicy
from knowledge.retrieval.types import Candidate, CategoryName, Focus, Query, Ranked
from knowledge.text.values import Tells, tells_of

# Scores that differ by less than this are ties, so that the last bit of a float never decides.
PRECISION = 6


@dataclass(frozen=True)
class Corpus:
    """The figures that fusion needs of a corpus.

    Units: weight in nats; deviation in cosine.
    """

    weight: Callable[[int], float]
    deviation: float


@dataclass(frozen=True)
class _Signals:
    candidate: Candidate
    cosines: tuple[float, ...]
    shares: tuple[float, ...]

    @property
    def share(self) -> float:
        """Return the best query's lexical share: queries in other languages do not dilute it."""
        return max(self.shares, default=0.0)

    @property
    def cosine(self) -> float:
        """Return the mean over the queries, which is what consensus between them means here."""
        return sum(self.cosines) / len(self.cosines) if self.cosines else 0.0


def fuse(
    candidates: Sequence[Candidate],
    queries: Sequence[Query],
    corpus: Corpus,
    policy: RetrievalPolicy,
) -> list[Ranked]:
    """Rank truth rows by their best passage; ties go to the better single rank, then kind, then id.

    Shape:  passages of both categories -> each truth row once, best first.
    Source: Bruch, Gai, Ingber, arXiv 2210.11934 (score sum); Cormack et al., SIGIR 2009 (ranks).
    """
    signals = _signals(candidates, queries, corpus, policy)
    scores = (
        _score_sum(signals, corpus.deviation, policy)
        if policy.fusion == "score_sum"
        else _reciprocal_rank(signals, len(queries), policy)
    )
    ranks = _single_ranks(signals, len(queries))
    best = _best_passage(signals, scores)
    ranked = [_ranked(signals[i], scores[i], ranks[i]) for i in best]
    return sorted(ranked, key=_place)


def _signals(
    candidates: Sequence[Candidate],
    queries: Sequence[Query],
    corpus: Corpus,
    policy: RetrievalPolicy,
) -> list[_Signals]:
    stand_ins = _StandIns.of(candidates)
    weights = {token: corpus.weight(token) for query in queries for token in query.tokens}
    totals = [fsum(weights[token] for token in query.tokens) for query in queries]
    return [
        _Signals(
            candidate,
            _cosines(candidate, stand_ins, policy),
            tuple(
                _share(candidate, query, total, weights)
                for query, total in zip(queries, totals, strict=True)
            ),
        )
        for candidate in candidates
    ]


@dataclass(frozen=True)
class _StandIns:
    """What a row is given, by query, that lacks something the others have.

    Without a vector yet, the lowest cosine found; without a title, the mean of the others' titles,
    so that having none is neither an advantage nor a fault.
    """

    lowest: tuple[float, ...]
    usual_title: tuple[float, ...]

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> _StandIns:
        """Return what these candidates say."""
        bodies = [c.cosines for c in candidates if c.cosines is not None]
        titles = [c.title_cosines for c in candidates if c.title_cosines is not None]
        return cls(
            tuple(map(min, zip(*bodies, strict=True))),
            tuple(sum(column) / len(column) for column in zip(*titles, strict=True)),
        )


def _cosines(
    candidate: Candidate, stand_ins: _StandIns, policy: RetrievalPolicy
) -> tuple[float, ...]:
    body = candidate.cosines or stand_ins.lowest
    titles = candidate.title_cosines or stand_ins.usual_title
    if not body or not titles:
        return body
    best, every = title_weights(policy, golden=candidate.kind == "golden")
    rows = zip(body, titles, candidate.phrasing_cosines or titles, strict=True)
    return tuple((b + best * t + every * p) / (1 + best + every) for b, t, p in rows)


def title_weights(policy: RetrievalPolicy, *, golden: bool) -> tuple[float, float]:
    """Return the shares of a passage's cosine that its best title and the mean of all add."""
    if golden:
        return policy.golden_title_weight, policy.golden_phrasings_weight
    return policy.title_weight, 0.0


def _share(candidate: Candidate, query: Query, total: float, weights: Mapping[int, float]) -> float:
    """Return the part of the query's weight that the passage holds; words count in their language."""
    same_language = not candidate.language or query.language in ("", candidate.language)
    counting = query.tokens if same_language else query.codes
    # Exact, so that the order of a set, which differs between processes, tells in no bit.
    held = fsum(weights[token] for token in candidate.matched & counting)
    return held / total if total else 0.0


def _score_sum(
    signals: Sequence[_Signals], deviation: float, policy: RetrievalPolicy
) -> list[float]:
    return [s.cosine + _lexical_weight(s.candidate, policy) * deviation * s.share for s in signals]


def _lexical_weight(candidate: Candidate, policy: RetrievalPolicy) -> float:
    return policy.golden_lexical_weight if candidate.kind == "golden" else policy.lexical_weight


def _reciprocal_rank(
    signals: Sequence[_Signals], count: int, policy: RetrievalPolicy
) -> list[float]:
    ranks = _single_ranks(signals, count)
    return [sum(1 / (policy.rrf_k + rank) for _, rank in row) for row in ranks]


def _single_ranks(signals: Sequence[_Signals], count: int) -> list[tuple[tuple[str, int], ...]]:
    """Return each passage's rank from 1 in every leg and query that found its truth row."""
    found: list[list[tuple[str, int]]] = [[] for _ in signals]
    assets = _numbered([s.candidate.asset_id for s in signals])
    for leg in ("dense", "lexical"):
        for query in range(count):
            for index, rank in _leg_ranks(signals, assets, leg, query):
                found[index].append((f"{leg}:{query}", rank))
    return [tuple(row) for row in found]


def _numbered(assets: Sequence[UUID]) -> list[int]:
    """Return small numbers for ids, in the same order; they are compared thousands of times."""
    numbers = {asset: n for n, asset in enumerate(sorted(set(assets), key=lambda a: a.int))}
    return [numbers[asset] for asset in assets]


def _leg_ranks(
    signals: Sequence[_Signals], assets: Sequence[int], leg: str, query: int
) -> list[tuple[int, int]]:
    scores = {
        index: (s.cosines[query] if leg == "dense" else s.shares[query])
        for index, s in enumerate(signals)
        if (leg == "dense" and s.candidate.cosines is not None)
        or (leg == "lexical" and s.shares[query] > 0)
    }
    best: dict[int, float] = {}
    for index, score in scores.items():
        asset = assets[index]
        best[asset] = max(best.get(asset, score), score)
    order = sorted(best, key=lambda asset: (-round(best[asset], PRECISION), asset))
    place = {asset: rank for rank, asset in enumerate(order, start=1)}
    return [(index, place[assets[index]]) for index in scores]


def _best_passage(signals: Sequence[_Signals], scores: Sequence[float]) -> list[int]:
    best: dict[tuple[CategoryName, UUID], int] = {}
    for index, s in enumerate(signals):
        asset = (s.candidate.category, s.candidate.asset_id)
        held = best.get(asset)
        if held is None or _better(signals, scores, index, held):
            best[asset] = index
    return list(best.values())


def _better(signals: Sequence[_Signals], scores: Sequence[float], new: int, held: int) -> bool:
    def key(index: int) -> tuple[float, int]:
        return -round(scores[index], PRECISION), signals[index].candidate.position

    return key(new) < key(held)


def _ranked(signals: _Signals, score: float, ranks: tuple[tuple[str, int], ...]) -> Ranked:
    candidate = signals.candidate
    return Ranked(
        category=candidate.category,
        asset_id=candidate.asset_id,
        position=candidate.position,
        kind=candidate.kind,
        title=candidate.title,
        content_hash=candidate.content_hash,
        score=score,
        cosine=signals.cosine if signals.cosines else None,
        share=signals.share,
        legs=tuple(sorted(candidate.legs)),
        ranks=ranks,
        exact=candidate.exact,
        leads=candidate.leads,
    )


def _place(ranked: Ranked) -> tuple[float, int, str, int]:
    best_rank = min((rank for _, rank in ranked.ranks), default=0)
    return -round(ranked.score, PRECISION), best_rank, ranked.kind, ranked.asset_id.int


def favour_counts(
    ranking: Sequence[Ranked], focus: Focus, deviation: float, policy: RetrievalPolicy
) -> list[Ranked]:
    """Move instructions by what their titles say about the length of the value the caller gave."""
    if focus.digits is None:
        return list(ranking)
    gain = policy.count_weight * (deviation if policy.fusion == "score_sum" else 0.001)
    moved = [replace(r, score=r.score + gain * _told(r, focus.digits)) for r in ranking]
    return sorted(moved, key=_place)


def _told(ranked: Ranked, digits: int) -> int:
    told = tells_of(ranked.title, digits) if ranked.category == "instruction" else None
    return {None: 0, Tells.EXACTLY: 1, Tells.OTHERWISE: -1}[told]
