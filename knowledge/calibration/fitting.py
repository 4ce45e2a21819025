"""Fits the figures that a search computes with to one organization's corpus.

It needs no labels. What fits is imitated by the corpus's own text: sentences of its passages, and
phrasings of golden answers that are asked as if the answer did not have them. What does not fit is
imitated by a bank of general questions. The same corpus, space and embedder give the same figures.

Keys of `CalibrationProfile.parameters`:

    bank     {language: figures} and {"all": figures}: general questions against this corpus. Languages
             are those of knowledge.calibration.bank.
    centres  {language: half precision numbers in base64} and "all": what a search takes out of the
             vector of a question in that language (knowledge.retrieval.centring); every figure here
             was measured with it.
    middle   the mean of the passages, weighted, in the same writing: what a question finds anywhere in
             this corpus. Cosines in the figures are above it (knowledge.retrieval.grounding).
    spread   standard deviation of cosine between two general questions of one language: the unit in
             which this embedding space tells texts apart.
    imitated figures of at most 200 imitated questions; absent below two.
    usual    mean height of the imitated questions above general ones, in spreads.
    moved    {language: log-odds} and "all": by how much this corpus moves the rule of all corpora.
    errors   how often the moved rule errs, on a half it was not drawn with (knowledge.calibration.errors).

Keys of figures:

    count      questions
    mean       mean of the best passage's cosine, its title's mixed in as fusion mixes it
    deviation  standard deviation of the same
    quantiles  [21 numbers], its quantiles 0, .05 ... 1
    share      mean share of the question's idf mass that this best passage holds, in [0, 1]
    share_deviation, share_quantiles   the same of the share
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db import connection

from knowledge.calibration.asking import Question, asked_of, embedded
from knowledge.calibration.bank import LANGUAGES
from knowledge.calibration.corpus import blocks, languages_of, passages_by_language, write_terms
from knowledge.calibration.errors import Observed, errors, moves
from knowledge.calibration.features import Feature, features_of
from knowledge.calibration.scoring import Array, Scores, score
from knowledge.embedding.protocol import Embedder, Vector
from knowledge.embedding.spending import paid_by
from knowledge.models import CalibrationProfile, EmbeddingSpace
from knowledge.retrieval.centring import centred, centres_of, packed, packed_vector
from knowledge.retrieval.policy import DEFAULT_POLICY
from tenants.isolation import organization_context

KEPT: Final = 5
DIGITS: Final = 6
# An embedder that cannot tell texts apart (as some fakes) must not divide by nothing.
LEAST_SPREAD: Final = 0.004
QUANTILES: Final = np.linspace(0.0, 1.0, 21)


def fit(
    organization_id: int, space: EmbeddingSpace, embedder: Embedder, *, at: datetime
) -> CalibrationProfile:
    """Measure a corpus as it is now; the new version becomes the active one.

    Raises: EmbeddingFailed; the profile in use stays, and a bare draft says when this was tried.
    Cost:   at most 200 questions embedded, one pass over the vectors; 960 more where the bank's
            vectors do not ship for this space.
    """
    profile = _drafted(organization_id, space, at=at)
    try:
        _count_words(profile)
        with paid_by(organization_id, embedder.space):
            measured = _measured(profile, space, embedder)
        return _activated(measured)
    except Exception:
        _give_up(profile)
        raise


def _measured(
    profile: CalibrationProfile, space: EmbeddingSpace, embedder: Embedder
) -> CalibrationProfile:
    organization_id = profile.organization_id
    asked = asked_of(organization_id, space)
    raw = embedded(asked, embedder)
    centres = _centres(asked, raw)
    languages = [question.query.language for question in asked]
    vectors = np.array(centred(list(raw), languages, centres)).reshape(raw.shape)
    owners = [question.owner for question in asked]
    scores = score(vectors, owners, blocks(organization_id, space), DEFAULT_POLICY)
    features = _above_level(features_of(profile, asked, scores), scores)
    profile.parameters = _parameters(asked, features)
    if profile.passages:
        profile.parameters |= {
            "centres": packed(centres),
            "middle": packed_vector(DEFAULT_POLICY.level_weight * scores.middle),
            "spread": _spread(asked, raw),
        }
        profile.parameters |= _judged(profile, asked, features)
    profile.cosine_deviation = _deviation(asked, scores)
    return profile


def _judged(
    profile: CalibrationProfile, asked: Sequence[Question], features: Sequence[Feature | None]
) -> dict[str, Any]:
    spoken, parameters = profile.languages, profile.parameters
    observed = [
        Observed(
            question.query.language, feature[0], feature[1], question.imitates,
            not spoken or question.query.language in ("", *spoken),
        )
        for question, feature in zip(asked, features, strict=True)
        if feature
    ]  # fmt: skip
    own = parameters.get("imitated")
    height = own and (own["mean"] - parameters["bank"]["all"]["mean"]) / parameters["spread"]
    return {
        "moved": moves(observed, parameters, DEFAULT_POLICY),
        "errors": errors(observed, parameters, DEFAULT_POLICY),
    } | ({"usual": round(height, DIGITS)} if height else {})


def _spread(asked: Sequence[Question], vectors: Array) -> float:
    """Return how widely cosines between general questions of one language differ."""
    found = []
    for language in LANGUAGES:
        rows = vectors[[i for i, question in enumerate(asked) if question.bank == language]]
        found.append(float((rows @ rows.T)[np.triu_indices(len(rows), 1)].std()))
    return max(round(float(np.mean(found)), DIGITS), LEAST_SPREAD)


def _above_level(found: Sequence[Feature | None], scores: Scores) -> list[Feature | None]:
    levels = DEFAULT_POLICY.level_weight * scores.mean
    return [
        feature and (feature[0] - float(level), feature[1])
        for feature, level in zip(found, levels, strict=True)
    ]


def _centres(asked: Sequence[Question], vectors: Array) -> dict[str, Vector]:
    by_language: dict[str, list[Vector]] = {}
    for question, vector in zip(asked, vectors, strict=True):
        if question.bank:
            by_language.setdefault(question.bank, []).append(vector)
    return centres_of(by_language, DEFAULT_POLICY.centre_weight)


def _drafted(organization_id: int, space: EmbeddingSpace, *, at: datetime) -> CalibrationProfile:
    """Write the next version, empty and not yet active."""
    with organization_context(organization_id), connection.cursor() as cursor:
        # Two fits at once would number their versions alike.
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext('calibration'), %s)", [organization_id]
        )
        known = CalibrationProfile.objects.filter(organization_id=organization_id, space=space)
        last = known.order_by("-version").first()
        return CalibrationProfile.objects.create(
            organization_id=organization_id,
            space=space,
            version=last.version + 1 if last else 1,
            cosine_deviation=DEFAULT_POLICY.cosine_deviation,
            fitted_at=at,
        )


def _count_words(profile: CalibrationProfile) -> None:
    counts = passages_by_language(profile.organization_id)
    profile.passages, profile.languages = sum(counts.values()), languages_of(counts)
    with organization_context(profile.organization_id):
        write_terms(profile.organization_id, profile.pk)


def _give_up(profile: CalibrationProfile) -> None:
    """Leave of the drafts since the version in use only this one, without its words."""
    organization_id, own = profile.organization_id, {"space_id": profile.space_id}
    with organization_context(organization_id):
        known = CalibrationProfile.objects.filter(organization_id=organization_id, **own)
        active = known.filter(is_active=True).values_list("version", flat=True).first() or 0
        before = known.filter(version__gt=active, fitted_at__lte=profile.fitted_at)
        _forget(organization_id, list(before.values_list("pk", flat=True)))
        profile.passages, profile.languages, profile.parameters = 0, [], {}
        profile.is_active = False
        profile.save(force_insert=True)


def _deviation(asked: Sequence[Question], scores: Scores) -> float:
    own = [i for i, question in enumerate(asked) if question.imitates]
    chosen = scores.deviation[own] if len(own) > 1 else scores.deviation
    measured = round(float(np.mean(chosen)), DIGITS) if len(chosen) else 0.0
    return measured or DEFAULT_POLICY.cosine_deviation


def _parameters(asked: Sequence[Question], features: Sequence[Feature | None]) -> dict[str, Any]:
    found = [(q, f) for q, f in zip(asked, features, strict=True) if f is not None]
    general = [(question.bank, feature) for question, feature in found if question.bank]
    bank = {
        language: _figures([feature for name, feature in general if name == language])
        for language in LANGUAGES
        if any(name == language for name, _ in general)
    }
    imitated = [feature for question, feature in found if question.imitates]
    parameters: dict[str, Any] = {"bank": bank}
    if general:
        bank["all"] = _figures([feature for _, feature in general])
    if len(imitated) > 1:
        parameters["imitated"] = _figures(imitated)
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
        list(known.select_for_update(no_key=True).order_by("pk"))
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
