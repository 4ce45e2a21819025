"""Fits the figures that a search computes with to one organization's corpus.

It needs no labels. What fits is imitated by the corpus's own titles, asked as questions and scored
against passages without them; what does not by a bank of general questions. The same corpus,
space and embedder give the same figures.

Keys of `CalibrationProfile.parameters`:

    bank     {language: figures} and {"all": figures}: general questions against this corpus. Languages
             are those of knowledge.calibration.bank.
    titles   figures: the corpus's titles as questions, at most 200; absent below two.

Keys of figures:

    count      questions
    mean       mean of the best passage's cosine, its title's mixed in as fusion mixes it
    deviation  standard deviation of the same
    quantiles  [21 numbers], its quantiles 0, .05 ... 1
    share      mean share of the question's idf mass that this best passage holds, in [0, 1]
    share_deviation, share_quantiles   the same of the share

For `titles` the best passage is the better of two: the own one, embedded without title and
headings, and the best of all other assets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db import connection

from knowledge.calibration.bank import LANGUAGES, questions
from knowledge.calibration.corpus import (
    Place,
    blocks,
    entries,
    languages_of,
    passages_by_language,
    sampled_titles,
    slices,
    write_terms,
)
from knowledge.calibration.scoring import Array, Scores, score
from knowledge.calibration.shipped import shipped_vectors
from knowledge.embedding.protocol import Embedder, SpaceSpec
from knowledge.errors import EmbeddingUnavailable
from knowledge.indexing.embedded import MOST_TEXTS, Shop, find_vectors, kept_vectors, text_hash
from knowledge.models import CalibrationProfile, CorpusTerm, EmbeddingSpace
from knowledge.retrieval.policy import DEFAULT_POLICY
from knowledge.retrieval.query import understand
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.retrieval.types import Query
from knowledge.text.keys import token_keys
from knowledge.text.speech import prepare_for_embedding
from knowledge.text.tokens import tokenise
from tenants.isolation import organization_context

KEPT: Final = 5
QUERY_DEADLINE_S: Final = 30.0
DIGITS: Final = 6
# The bank never changes while a process runs, and costs as much as everything else together.
_bank_vectors: Final[dict[SpaceSpec, dict[str, Array]]] = {}
QUANTILES: Final = np.linspace(0.0, 1.0, 21)


@dataclass(frozen=True)
class Question:
    """A question to score, and where it comes from: a language of the bank, or an asset's title."""

    text: str
    query: Query
    bank: str | None = None
    owner: UUID | None = None


def fit(
    organization_id: int, space: EmbeddingSpace, embedder: Embedder, *, at: datetime
) -> CalibrationProfile:
    """Measure a corpus as it is now; the new version becomes the active one.

    Raises: EmbeddingFailed; the profile in use stays.
    Cost:   about 1,100 questions embedded, 200 passages that are new to it, one pass over the vectors.
    """
    profile = _drafted(organization_id, space, at=at)
    try:
        return _activated(_measured(profile, space, embedder))
    except Exception:
        _forget(organization_id, [profile.pk])
        raise


def _measured(
    profile: CalibrationProfile, space: EmbeddingSpace, embedder: Embedder
) -> CalibrationProfile:
    organization_id = profile.organization_id
    asked = _asked(organization_id, space)
    vectors = _embedded(asked, embedder)
    owners = [question.owner for question in asked]
    scores = score(vectors, owners, blocks(organization_id, space), DEFAULT_POLICY)
    features = _features(_Corpus(profile, space, embedder), asked, vectors, scores)
    profile.parameters = _parameters(asked, features)
    profile.cosine_deviation = _deviation(asked, scores)
    return profile


@dataclass(frozen=True)
class _Corpus:
    profile: CalibrationProfile
    space: EmbeddingSpace
    embedder: Embedder

    @property
    def organization_id(self) -> int:
        return self.profile.organization_id


def _drafted(organization_id: int, space: EmbeddingSpace, *, at: datetime) -> CalibrationProfile:
    """Write the next version with its word counts, not yet active."""
    counts = passages_by_language(organization_id)
    with organization_context(organization_id), connection.cursor() as cursor:
        # Two fits at once would number their versions alike.
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext('calibration'), %s)", [organization_id]
        )
        known = CalibrationProfile.objects.filter(organization_id=organization_id, space=space)
        last = known.order_by("-version").first()
        profile = CalibrationProfile.objects.create(
            organization_id=organization_id,
            space=space,
            version=last.version + 1 if last else 1,
            passages=sum(counts.values()),
            cosine_deviation=DEFAULT_POLICY.cosine_deviation,
            languages=languages_of(counts),
            fitted_at=at,
        )
        write_terms(organization_id, profile.pk)
    return profile


def _asked(organization_id: int, space: EmbeddingSpace) -> list[Question]:
    titled = [
        Question(title, query, owner=asset)
        for asset, title in sampled_titles(organization_id, space)
        for query in understand([title], organization_id=organization_id)
    ]
    general = [
        Question(text, query, bank=language)
        for language in LANGUAGES
        for text in questions(language)
        for query in understand([text], organization_id=organization_id)
    ]
    return titled + general


def _embedded(asked: Sequence[Question], embedder: Embedder) -> Array:
    known = _bank_vectors.setdefault(embedder.space, {})
    new = [question.text for question in asked if question.bank and question.text not in known]
    known.update(shipped_vectors(new, embedder.space))
    new = [text for text in new if text not in known]
    known.update(zip(new, _queries(new, embedder), strict=True))
    titles = _queries([question.text for question in asked if question.owner], embedder)
    vectors = [*titles, *(known[question.text] for question in asked if question.bank)]
    return np.array(vectors, dtype=np.float32).reshape(len(vectors), -1)


def _queries(texts: Sequence[str], embedder: Embedder) -> list[Array]:
    prepared = [prepare_for_embedding(text) for text in texts]
    return [
        vector
        for start in range(0, len(prepared), MOST_TEXTS)
        for vector in embedder.embed_queries(
            prepared[start : start + MOST_TEXTS], deadline_s=QUERY_DEADLINE_S
        )
    ]


def _deviation(asked: Sequence[Question], scores: Scores) -> float:
    own = [i for i, question in enumerate(asked) if question.owner]
    chosen = scores.deviation[own] if len(own) > 1 else scores.deviation
    measured = round(float(np.mean(chosen)), DIGITS) if len(chosen) else 0.0
    return measured or DEFAULT_POLICY.cosine_deviation


Feature = tuple[float, float]


def _features(
    corpus: _Corpus, asked: Sequence[Question], vectors: Array, scores: Scores
) -> list[Feature | None]:
    """Return cosine and lexical share of each question's best passage; None where there is none."""
    organization_id = corpus.organization_id
    wanted = [place for place in {*scores.places, *scores.own_places} if place]
    words = entries(organization_id, sorted(wanted))
    statistics = _statistics(corpus.profile, asked)
    bare = _bare(corpus, vectors, scores)
    features: list[Feature | None] = []
    for number, (question, place) in enumerate(zip(asked, scores.places, strict=True)):
        language, tokens = words.get(place, ("", frozenset())) if place else ("", frozenset())
        share = _share(question.query, language, tokens, statistics)
        found = (float(scores.best[number]), share) if place else None
        own = bare.get(number)
        if own and (found is None or own[0] > found[0]):
            language = words[own[2]][0] if own[2] in words else ""
            found = (own[0], _share(question.query, language, own[1], statistics))
        features.append(found)
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


def _bare(
    corpus: _Corpus, vectors: Array, scores: Scores
) -> dict[int, tuple[float, frozenset[int], Place]]:
    """Return, by question, cosine and tokens of its own passage without title and headings."""
    places = {i: place for i, place in enumerate(scores.own_places) if place}
    texts = slices(corpus.organization_id, sorted(set(places.values())))
    known = _passage_vectors(corpus, [text for text in texts.values() if text.strip()])
    bare: dict[int, tuple[float, frozenset[int], Place]] = {}
    for number, place in places.items():
        text = texts.get(place, "")
        if text_hash(text) in known:
            cosine = float(known[text_hash(text)] @ vectors[number])
            keys = token_keys(corpus.organization_id, tokenise(text))
            bare[number] = (cosine, keys, place)
    return bare


def _passage_vectors(corpus: _Corpus, texts: Sequence[str]) -> Mapping[str, Array]:
    # Kept with the paid texts: the sample is steady, so the next fit finds nearly all of them.
    named = {text_hash(text): text for text in texts}
    shop = Shop(corpus.organization_id, corpus.space, corpus.embedder, lambda: True)
    found = find_vectors(named, shop)
    if found.stopped_by:
        raise EmbeddingUnavailable from found.stopped_by
    return kept_vectors(found.available, corpus.organization_id, corpus.space)


def _share(
    query: Query, language: str, tokens: frozenset[int], statistics: CorpusStatistics
) -> float:
    # As fusion counts it: words in the passage's language, codes in any.
    same = not language or query.language in ("", language)
    counting = query.tokens if same else query.codes
    total = sum(statistics.weight(token) for token in query.tokens)
    held = sum(statistics.weight(token) for token in sorted(tokens & counting))
    return held / total if total else 0.0


def _parameters(asked: Sequence[Question], features: Sequence[Feature | None]) -> dict[str, Any]:
    found = [(q, f) for q, f in zip(asked, features, strict=True) if f is not None]
    general = [(question.bank, feature) for question, feature in found if question.bank]
    bank = {
        language: _figures([feature for name, feature in general if name == language])
        for language in LANGUAGES
        if any(name == language for name, _ in general)
    }
    titles = [feature for question, feature in found if question.owner]
    parameters: dict[str, Any] = {"bank": bank}
    if general:
        bank["all"] = _figures([feature for _, feature in general])
    if len(titles) > 1:
        parameters["titles"] = _figures(titles)
    return parameters


def _figures(features: Sequence[Feature]) -> dict[str, Any]:
    cosines, shares = np.array(features, dtype=np.float64).T
    return {
        "count": len(features),
        "mean": round(float(cosines.mean()), DIGITS),
        "deviation": round(float(cosines.std()), DIGITS),
        "quantiles": np.quantile(cosines, QUANTILES).round(DIGITS).tolist(),
        "share": round(float(shares.mean()), DIGITS),
        "share_deviation": round(float(shares.std()), DIGITS),
        "share_quantiles": np.quantile(shares, QUANTILES).round(DIGITS).tolist(),
    }


def _activated(profile: CalibrationProfile) -> CalibrationProfile:
    """Make the draft the active version and forget all but the last few."""
    organization_id = profile.organization_id
    with organization_context(organization_id):
        known = CalibrationProfile.objects.filter(
            organization_id=organization_id, space_id=profile.space_id
        )
        list(known.select_for_update().order_by("pk"))
        known.filter(is_active=True).update(is_active=False)
        profile.is_active = True
        profile.save()
        old = known.exclude(pk=profile.pk).order_by("-version").values_list("pk", flat=True)
        forgotten = list(old[KEPT - 1 :])
    _forget(organization_id, forgotten)
    return profile


def _forget(organization_id: int, profiles: Sequence[UUID]) -> None:
    # The database drops a profile's terms with it; Django would read all of them first.
    with organization_context(organization_id), connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM knowledge_calibrationprofile WHERE organization_id = %s AND id = ANY(%s)",
            [organization_id, list(profiles)],
        )
