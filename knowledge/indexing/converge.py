"""Makes the index hold what the truth rows say: may run twice, late, out of order, or die anywhere.

Claim, read what is live now, embed outside any transaction, apply if it is still ours.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import Error

from knowledge.embedding.protocol import Embedder
from knowledge.embedding.spaces import ensure_space
from knowledge.errors import EmbeddingFailed
from knowledge.indexing.applying import Ready, apply
from knowledge.indexing.assets import Live, live_assets
from knowledge.indexing.backoff import Failure, failure_of, is_final, next_attempt_at
from knowledge.indexing.embedded import Found, Shop, find_vectors
from knowledge.indexing.leases import Claim, Clock, claim, held, kept_up, release
from knowledge.models import EmbeddingSpace, IndexState
from knowledge.passages import CHUNKER_VERSION
from tenants.isolation import organization_context

Asset = tuple[str, UUID]
BUDGET_S: Final = 30.0
_logger = logging.getLogger(__name__)


@dataclass
class Outcome:
    """What one run did, in assets and texts; `stopped_by` is what the provider answered last."""

    applied: set[UUID] = field(default_factory=set)
    failed: dict[UUID, Failure] = field(default_factory=dict)
    released: set[UUID] = field(default_factory=set)
    bought: int = 0
    texts: int = 0
    stopped_by: EmbeddingFailed | None = None

    @property
    def touched(self) -> int:
        """How many assets were claimed."""
        return len(self.applied) + len(self.failed) + len(self.released)


@dataclass(frozen=True)
class Workshop:
    """What converging needs beside its assets; the same in every way of running.

    `goes_on` says between two batches of the embedder whether there is time for the next.
    """

    embedder: Embedder
    clock: Clock
    goes_on: Callable[[], bool]


def budget(seconds: float = BUDGET_S) -> Callable[[], bool]:
    """Return what says whether so many seconds have not yet passed."""
    ends = time.monotonic() + seconds
    return lambda: time.monotonic() < ends


def converge(
    organization_id: int, category: str, asset_id: UUID, *, embedder: Embedder, clock: Clock
) -> Outcome:
    """Bring the index of one asset up to date, if it is due and nobody else is at it."""
    workshop = Workshop(embedder, clock, budget())
    return converge_batch(organization_id, [(category, asset_id)], workshop)


def converge_batch(organization_id: int, assets: Iterable[Asset], workshop: Workshop) -> Outcome:
    """Do the same for several, which share the embedder's batches and nothing else.

    Cost: about twenty statements and the calls of the embedder; no transaction is open meanwhile.
    """
    space = ensure_space(workshop.embedder.space, chunker_version=CHUNKER_VERSION)
    claims, live = _claimed(organization_id, assets, at=workshop.clock())
    outcome = Outcome()
    if claims:
        try:
            with kept_up(claims, workshop.clock):
                _converge(claims, live, space, workshop, outcome)
        finally:
            _give_back(claims, outcome, at=workshop.clock())
    return outcome


def _claimed(
    organization_id: int, assets: Iterable[Asset], *, at: datetime
) -> tuple[list[Claim], dict[UUID, Live]]:
    # Claimed and read in one transaction: a writer is either before both or after both.
    with organization_context(organization_id):
        claims = claim(organization_id, [asset_id for _, asset_id in assets], at=at)
        return claims, live_assets(organization_id, [(c.category, c.asset_id) for c in claims])


def _converge(
    claims: Sequence[Claim],
    live: Mapping[UUID, Live],
    space: EmbeddingSpace,
    workshop: Workshop,
    outcome: Outcome,
) -> None:
    ready = [one for c in claims if (one := _prepared(c, live.get(c.asset_id), workshop, outcome))]
    texts = {piece.text_hash: piece.text for one in ready for piece in one.pieces}
    shop = Shop(claims[0].organization_id, space, workshop.embedder, workshop.goes_on)
    found = find_vectors(texts, shop)
    outcome.texts, outcome.bought, outcome.stopped_by = len(texts), found.bought, found.stopped_by
    complete = [one for one in ready if _is_complete(one, found, workshop, outcome)]
    if complete:
        _apply(complete, space, workshop, outcome)


def _prepared(
    claimed: Claim, live: Live | None, workshop: Workshop, outcome: Outcome
) -> Ready | None:
    try:
        return Ready(claimed, live, live.pieces() if live else ())
    except Exception as error:
        # Whatever one body does to the parser, the others of the batch go on.
        _fail(claimed, failure_of(error), workshop, outcome)
        return None


def _is_complete(one: Ready, found: Found, workshop: Workshop, outcome: Outcome) -> bool:
    hashes = {piece.text_hash for piece in one.pieces}
    refused = next((found.refused[h] for h in hashes if h in found.refused), None)
    error = refused or (found.stopped_by if hashes - found.available else None)
    if error is not None:
        _fail(one.claim, failure_of(error), workshop, outcome)
    return hashes <= found.available


def _apply(
    complete: Sequence[Ready], space: EmbeddingSpace, workshop: Workshop, outcome: Outcome
) -> None:
    try:
        outcome.applied |= apply(complete, space, at=workshop.clock())
    except Exception as error:
        failure = failure_of(error)
        if failure.is_transient or len(complete) == 1:
            for one in complete:
                _fail(one.claim, failure, workshop, outcome)
        else:
            for one in complete:
                _apply([one], space, workshop, outcome)


def _fail(claimed: Claim, failure: Failure, workshop: Workshop, outcome: Outcome) -> None:
    outcome.failed[claimed.asset_id] = failure
    same = claimed.failed_as in ("", failure.code)
    attempts = claimed.attempts if same else 1
    final = is_final(attempts, failure)
    due = next_attempt_at(attempts, failure, at=workshop.clock())
    with organization_context(claimed.organization_id):
        mine = held([claimed]).filter(asset_id=claimed.asset_id)
        mine.filter(desired_generation=claimed.generation).update(
            status=IndexState.Status.FAILED if final else IndexState.Status.RETRYING,
            attempts=attempts,
            next_attempt_at=due,
            last_error_code=failure.code,
            last_error=failure.reason[:2_000],
            lease_token=None,
            lease_until=None,
        )


def _give_back(claims: Sequence[Claim], outcome: Outcome, *, at: datetime) -> None:
    rest = [c for c in claims if c.asset_id not in outcome.applied | set(outcome.failed)]
    outcome.released = {c.asset_id for c in rest}
    # A failure whose row was raised meanwhile still holds the lease; giving back is harmless twice.
    superseded = [c for c in claims if c.asset_id in outcome.failed]
    try:
        release([*rest, *superseded], at=at)
    except Error as error:
        _logger.warning("leases not given back", extra={"error": type(error).__name__})
