"""What each question finds in a corpus, in the two features that relevance is judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from knowledge.calibration.asking import Question
from knowledge.calibration.corpus import Place, entries, slices
from knowledge.calibration.scoring import Array, Scores
from knowledge.embedding.protocol import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.indexing.embedded import Shop, find_vectors, kept_vectors, text_hash
from knowledge.models import CalibrationProfile, CorpusTerm, EmbeddingSpace
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.retrieval.types import Query
from knowledge.text.keys import token_keys
from knowledge.text.tokens import tokenise
from tenants.isolation import organization_context

Feature = tuple[float, float]
Words = Mapping[Place, tuple[str, frozenset[int]]]
WORDLESS: Final[tuple[str, frozenset[int]]] = ("", frozenset())


@dataclass(frozen=True)
class Corpus:
    """Where the features are measured: the word counts of a draft, and how texts are embedded."""

    profile: CalibrationProfile
    space: EmbeddingSpace
    embedder: Embedder

    @property
    def organization_id(self) -> int:
        """Return whose it is."""
        return self.profile.organization_id


class _Passage(NamedTuple):
    cosine: float
    language: str
    tokens: frozenset[int]


def features_of(
    corpus: Corpus, asked: Sequence[Question], vectors: Array, scores: Scores
) -> list[Feature | None]:
    """Return cosine and lexical share of each question's best passage; None where there is none."""
    wanted = {place for place in (*scores.places, *scores.own_places) if place}
    words = entries(corpus.organization_id, sorted(wanted))
    statistics = _statistics(corpus.profile, asked)
    bare = _bare(corpus, words, vectors, scores)
    features: list[Feature | None] = []
    for number, question in enumerate(asked):
        found = [p for p in (_other(words, scores, number), bare.get(number)) if p]
        best = max(found, default=None, key=lambda passage: passage.cosine)
        share = _share(question.query, best, statistics) if best else 0.0
        features.append((best.cosine, share) if best else None)
    return features


def _other(words: Words, scores: Scores, number: int) -> _Passage | None:
    place = scores.places[number]
    return _Passage(float(scores.best[number]), *words.get(place, WORDLESS)) if place else None


def _statistics(profile: CalibrationProfile, asked: Sequence[Question]) -> CorpusStatistics:
    tokens = sorted({token for question in asked for token in question.query.tokens})
    with organization_context(profile.organization_id):
        rows = CorpusTerm.objects.filter(
            organization_id=profile.organization_id, profile=profile, token__in=tokens
        )
        return CorpusStatistics(
            passages=profile.passages, frequencies=dict(rows.values_list("token", "passages"))
        )


def _bare(corpus: Corpus, words: Words, vectors: Array, scores: Scores) -> dict[int, _Passage]:
    """Return, by question, its own passage without title and headings."""
    places = {i: place for i, place in enumerate(scores.own_places) if place}
    texts = slices(corpus.organization_id, sorted(set(places.values())))
    known = _passage_vectors(corpus, [text for text in texts.values() if text.strip()])
    bare: dict[int, _Passage] = {}
    for number, place in places.items():
        text, language = texts.get(place, ""), words.get(place, WORDLESS)[0]
        if text_hash(text) in known:
            cosine = float(known[text_hash(text)] @ vectors[number])
            tokens = token_keys(corpus.organization_id, tokenise(text, language or None))
            bare[number] = _Passage(cosine, language, tokens)
    return bare


def _passage_vectors(corpus: Corpus, texts: Sequence[str]) -> Mapping[str, Array]:
    # Kept with the paid texts: the sample is steady, so the next fit finds nearly all of them.
    named = {text_hash(text): text for text in texts}
    shop = Shop(corpus.organization_id, corpus.space, corpus.embedder, lambda: True)
    found = find_vectors(named, shop)
    if found.stopped_by:
        raise EmbeddingUnavailable from found.stopped_by
    return kept_vectors(found.available, corpus.organization_id, corpus.space)


def _share(query: Query, passage: _Passage, statistics: CorpusStatistics) -> float:
    # As fusion counts it: words in the passage's language, codes in any.
    same = not passage.language or query.language in ("", passage.language)
    counting = query.tokens if same else query.codes
    total = sum(statistics.weight(token) for token in query.tokens)
    held = sum(statistics.weight(token) for token in sorted(passage.tokens & counting))
    return held / total if total else 0.0
