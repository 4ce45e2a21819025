"""Fits again in the background after content has changed, once it has come to rest."""

from __future__ import annotations

import ctypes
import logging
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max

from knowledge.calibration.fitting import fit
from knowledge.embedding.protocol import Embedder
from knowledge.embedding.selection import embedder_of
from knowledge.embedding.spaces import filled_spaces, is_of
from knowledge.errors import EmbeddingMisconfigured
from knowledge.indexing.backoff import MOST_ATTEMPTS
from knowledge.indexing.leases import waiting_states
from knowledge.indexing.spending import is_left_alone
from knowledge.models import CalibrationProfile, EmbeddingSpace, IndexState, SpaceGap
from tenants.isolation import organization_context
from tenants.models import Organization
from tenants.rounds import for_each

# A first profile is worth more than a settled corpus; later ones wait for the end of an import.
FIRST_AFTER: Final = timedelta(seconds=5)
QUIET: Final = timedelta(seconds=30)
LATEST: Final = timedelta(minutes=15)
# So long a fit may take, and so long one that failed waits before it is tried again.
LONGEST_FIT: Final = timedelta(minutes=10)
_logger = logging.getLogger(__name__)


def is_due(
    *, changed_at: datetime | None, fitted_at: datetime | None, is_busy: bool, at: datetime
) -> bool:
    """Whether what was measured is out of date and now is the time to measure again."""
    if changed_at is None or (fitted_at is not None and changed_at <= fitted_at):
        return False
    if fitted_at is not None and at - fitted_at >= LATEST:
        return True
    quiet = FIRST_AFTER if fitted_at is None else QUIET
    return not is_busy and at - changed_at >= quiet


def refit_all_due(embedder: Embedder, *, at: datetime) -> list[str]:
    """Fit every organization whose time has come, in every space that is kept filled; return their slugs.

    Raises: RoundIncomplete
    Cost: two statements for each organization that has nothing to do.
    """
    return [
        slug
        for space in filled_spaces()
        if (asked := _embedder(space, embedder)) is not None
        for slug in _refit(space, asked, at=at)
    ]


def _embedder(space: EmbeddingSpace, embedder: Embedder) -> Embedder | None:
    if is_of(space, embedder.space):
        return embedder
    try:
        return embedder_of(space)
    except EmbeddingMisconfigured:
        return None


def _refit(space: EmbeddingSpace, embedder: Embedder, *, at: datetime) -> list[str]:
    if is_left_alone(embedder.space, at=at):
        return []
    fitted: list[str] = []

    def do(organization: Organization) -> None:
        if not is_partial(organization.pk, space) and _is_due(organization.pk, space, at=at):
            fit(organization.pk, space, embedder, at=at)
            fitted.append(organization.slug)
            _logger.info("calibrated", extra={"organization": organization.pk, "space": space.key})

    try:
        for_each("calibrating", Organization.objects.filter(is_active=True).order_by("pk"), do)
    finally:
        if fitted:
            _give_memory_back()
    return fitted


def _give_memory_back() -> None:
    """Return the pages that a corpus's vectors were measured in; glibc would keep them for the next time."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def is_partial(organization_id: int, space: EmbeddingSpace) -> bool:
    """Whether a space is still being filled: what is measured of a part of it would mislead."""
    if space.status == EmbeddingSpace.Status.ACTIVE:
        return False
    return SpaceGap.objects.filter(
        organization_id=organization_id, space=space, attempts__lt=MOST_ATTEMPTS
    ).exists()


def _is_due(organization_id: int, space: EmbeddingSpace, *, at: datetime) -> bool:
    with organization_context(organization_id):
        states = IndexState.objects.filter(organization_id=organization_id)
        known = CalibrationProfile.objects.filter(organization_id=organization_id, space=space)
        profiles = list(known.order_by("-version").values_list("is_active", "fitted_at"))
        # A draft is a fit that somebody else has begun, or one that failed; one this old was killed.
        if profiles and not profiles[0][0] and profiles[0][1] > at - LONGEST_FIT:
            return False
        return is_due(
            changed_at=states.aggregate(last=Max("applied_at"))["last"],
            fitted_at=next((fitted_at for is_active, fitted_at in profiles if is_active), None),
            is_busy=waiting_states(organization_id).exists(),
            at=at,
        )
