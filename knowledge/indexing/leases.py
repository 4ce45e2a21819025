"""Who works on which asset: a lease that is counted before the work and kept up while it lasts."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import Error, connection
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest

from knowledge.indexing.backoff import INTERRUPTED, MOST_ATTEMPTS
from knowledge.models import IndexState
from tenants.isolation import organization_context
from tenants.patience import patient_for

Clock = Callable[[], datetime]
LEASE: Final = timedelta(seconds=10)
HEARTBEAT_S: Final = 3.0
# A renewal that takes longer is given up: the lease would run out meanwhile, and the work waits for it.
RENEWAL_S: Final = 5.0
SMALL_COMPANY: Final = 8
# A call that hangs for longer than any deadline allows loses its lease in the end.
LONGEST_HELD_S: Final = 900.0
_TAKE: Final = """
UPDATE knowledge_indexstate s SET attempts = w.attempts, status = w.status, last_error_code = w.code,
       last_error = w.reason,
       lease_token = CASE WHEN w.status = 'failed' THEN NULL ELSE %(token)s::uuid END,
       lease_until = CASE WHEN w.status = 'failed' THEN NULL ELSE %(until)s::timestamptz END
  FROM unnest(%(ids)s::uuid[], %(attempts)s::integer[], %(statuses)s::text[], %(codes)s::text[],
              %(reasons)s::text[]) AS w(id, attempts, status, code, reason)
 WHERE s.id = w.id
"""
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claim:
    """An asset that is ours for now, at the generation that was asked for when we took it."""

    organization_id: int
    category: str
    asset_id: UUID
    generation: int
    version: UUID | None
    attempts: int
    failed_as: str
    token: UUID


def claim(organization_id: int, asset_ids: Iterable[UUID], *, at: datetime) -> list[Claim]:
    """Take the lease of those that are due and free; the attempt is counted before the work.

    What was interrupted comes in small company, and the next time alone: if it is what kills the
    process, it takes no other along for long.
    """
    due = _due(organization_id, list(asset_ids), at=at)
    interrupted = [state for state in due if state.lease_token]
    taken = _small_company(interrupted) or due
    token = uuid.uuid4()
    claims = [_taken(state, token) for state in taken if not _gave_up(state)]
    _take(taken, token, at=at)
    return claims


def _small_company(interrupted: Sequence[IndexState]) -> Sequence[IndexState]:
    once = [state for state in interrupted if state.last_error_code != INTERRUPTED]
    return once[:SMALL_COMPANY] or interrupted[:1]


def _due(organization_id: int, asset_ids: list[UUID], *, at: datetime) -> list[IndexState]:
    found = due_states(organization_id, at=at).filter(asset_id__in=asset_ids)
    return list(
        found.select_for_update(skip_locked=True, no_key=True).order_by("next_attempt_at", "pk")
    )


def due_states(organization_id: int, *, at: datetime) -> QuerySet[IndexState]:
    """Return the rows of an organization that somebody should work on now."""
    return waiting_states(organization_id).filter(
        Q(lease_until=None) | Q(lease_until__lt=at), next_attempt_at__lte=at
    )


def waiting_states(organization_id: int) -> QuerySet[IndexState]:
    """Return the rows whose index is behind and that have not failed for good."""
    return IndexState.objects.filter(
        organization_id=organization_id, applied_generation__lt=F("desired_generation")
    ).exclude(status=IndexState.Status.FAILED)


def _taken(state: IndexState, token: UUID) -> Claim:
    if state.lease_token:
        state.attempts = state.attempts if state.last_error_code == INTERRUPTED else 1
        state.last_error_code = INTERRUPTED
    state.attempts += 1
    return Claim(
        organization_id=state.organization_id,
        category=state.category,
        asset_id=state.asset_id,
        generation=state.desired_generation,
        version=state.desired_version,
        attempts=state.attempts,
        failed_as=state.last_error_code,
        token=token,
    )


def _gave_up(state: IndexState) -> bool:
    """Fail what was interrupted in every attempt, each time alone."""
    often = state.last_error_code == INTERRUPTED and state.attempts >= MOST_ATTEMPTS
    if not (state.lease_token and often):
        return False
    state.status = IndexState.Status.FAILED
    state.last_error = "Indexing it ended the process each time."
    return True


def _take(states: Sequence[IndexState], token: UUID, *, at: datetime) -> None:
    values: dict[str, Any] = {
        "ids": [state.pk for state in states],
        "attempts": [state.attempts for state in states],
        "statuses": [state.status for state in states],
        "codes": [state.last_error_code for state in states],
        "reasons": [state.last_error for state in states],
        "token": token,
        "until": at + LEASE,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, values)


def held(claims: Sequence[Claim]) -> QuerySet[IndexState]:
    """Return the rows whose lease is still the one we took."""
    return IndexState.objects.filter(
        organization_id=claims[0].organization_id, lease_token=claims[0].token
    )


def release(claims: Sequence[Claim], *, at: datetime) -> None:
    """Give back what was not finished, as if it had not been tried; each in its own transaction.

    A writer may hold one row while it waits for another: whoever waits here holds nothing.
    """
    for given_back in claims:
        with organization_context(given_back.organization_id):
            held([given_back]).filter(asset_id=given_back.asset_id).update(
                lease_token=None,
                lease_until=None,
                next_attempt_at=at,
                attempts=Greatest(F("attempts") - 1, 0),
            )


@contextmanager
def kept_up(claims: Sequence[Claim], clock: Clock) -> Iterator[None]:
    """Renew the leases from a thread while the block runs; a short block never starts renewing."""
    done = threading.Event()
    beating = threading.Thread(target=_beat, args=(claims, clock, done), daemon=True)
    beating.start()
    try:
        yield
    finally:
        done.set()
        beating.join()


def _beat(claims: Sequence[Claim], clock: Clock, done: threading.Event) -> None:
    give_up = time.monotonic() + LONGEST_HELD_S
    try:
        while not done.wait(HEARTBEAT_S) and time.monotonic() < give_up:
            _renew(claims, at=clock())
    finally:
        connection.close()


def _renew(claims: Sequence[Claim], *, at: datetime) -> None:
    try:
        with patient_for(RENEWAL_S), organization_context(claims[0].organization_id):
            # Waiting for a row while holding others could cost a writer its transaction.
            free = held(claims).select_for_update(skip_locked=True, no_key=True).values("pk")
            IndexState.objects.filter(pk__in=free).update(lease_until=at + LEASE)
    except Error as error:
        # A lease that runs out costs a second embedding at worst, never a wrong index.
        _logger.warning("lease not renewed", extra={"error": type(error).__name__})
        connection.close()
