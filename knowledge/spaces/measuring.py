"""Measure what a good match is in a space before it is searched."""

from __future__ import annotations

from datetime import datetime

from knowledge.calibration.fitting import fit
from knowledge.calibration.refitting import is_partial
from knowledge.embedding.selection import embedder_of
from knowledge.models import EmbeddingSpace
from knowledge.spaces.progress import progress
from tenants.models import Organization


def measure(space: EmbeddingSpace, *, at: datetime) -> list[str]:
    """Fit the profiles that a switch would be refused for; return whose they are.

    Raises: EmbeddingFailed, EmbeddingMisconfigured
    """
    embedder = embedder_of(space)
    fitted = []
    for one in progress(space, Organization.objects.order_by("pk")):
        if one.needs_profile and not is_partial(one.organization.pk, space):
            fit(one.organization.pk, space, embedder, at=at)
            fitted.append(one.organization.slug)
    return fitted
