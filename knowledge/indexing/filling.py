"""Brings the vectors that a space lacks: after a change of a truth row, and of everything when it is new.

Behind the queue of changes: a space that is filled never holds up the one that is searched.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection

from knowledge.embedding.protocol import Embedder
from knowledge.embedding.selection import embedder_of
from knowledge.embedding.spaces import filled_spaces, spaces_stay
from knowledge.errors import EmbeddingFailed, EmbeddingMisconfigured
from knowledge.indexing.assets import live_assets
from knowledge.indexing.backoff import failure_of, pause_s
from knowledge.indexing.embedded import Found, Shop, find_vectors
from knowledge.indexing.gaps import (
    Place,
    claim_gaps,
    fail_gap,
    organizations_due,
    release_gaps,
    settle_gaps,
)
from knowledge.indexing.leases import Clock
from knowledge.indexing.spending import is_left_alone, leave_alone
from knowledge.models import EmbeddingSpace, IndexState
from tenants.isolation import organization_context

BATCH: Final = 64
BUDGET_S: Final = 30.0
LONGEST_PAUSE_S: Final = 30.0
ASKING_TO_WAIT: Final = frozenset({429, 503})
_INSERT: Final = """
INSERT INTO knowledge_vector (organization_id, space_id, asset_id, generation, position, chunk_id, embedding)
SELECT c.organization_id, %(space)s, c.asset_id, d.generation, c.position, c.id, e.embedding
  FROM knowledge_document d
  JOIN knowledge_chunk c ON c.organization_id = d.organization_id AND c.document_id = d.id
 CROSS JOIN LATERAL (
    SELECT t.embedding FROM knowledge_embeddedtext t
     WHERE t.organization_id = c.organization_id AND t.space_id = %(space)s AND t.text_hash = c.text_hash
    UNION ALL
    SELECT v.embedding FROM knowledge_chunk o JOIN knowledge_vector v
        ON v.organization_id = o.organization_id AND v.chunk_id = o.id AND v.space_id = %(space)s
     WHERE o.organization_id = c.organization_id AND o.text_hash = c.text_hash
     LIMIT 1) e
 WHERE d.organization_id = %(organization)s AND d.asset_id = ANY(%(assets)s)
    ON CONFLICT DO NOTHING
"""
_SPEND: Final = """
DELETE FROM knowledge_embeddedtext t
 WHERE t.organization_id = %(organization)s AND t.space_id = %(space)s
   AND t.text_hash IN (SELECT c.text_hash FROM knowledge_document d
     JOIN knowledge_chunk c ON c.organization_id = d.organization_id AND c.document_id = d.id
    WHERE d.organization_id = %(organization)s AND d.asset_id = ANY(%(assets)s))
"""
_logger = logging.getLogger(__name__)


@dataclass
class Filled:
    """What one batch did, in assets and texts."""

    done: int = 0
    failed: int = 0
    bought: int = 0
    stopped_by: EmbeddingFailed | None = None


@dataclass
class Filler:
    """Fills every space that is kept filled, and remembers which providers want a rest."""

    clock: Clock
    _free_at: dict[str, float] = field(default_factory=dict)
    _failures: dict[str, int] = field(default_factory=dict)

    def run(self, goes_on: Callable[[], bool]) -> int:
        """Fill until nothing is due, the provider wants a rest or the time is over; return how many assets."""
        done = 0
        for space in filled_spaces():
            done += self._fill(space, goes_on)
        return done

    def _fill(self, space: EmbeddingSpace, goes_on: Callable[[], bool]) -> int:
        done = 0
        while goes_on() and not self._rests(space):
            due = organizations_due(space, at=self.clock())
            embedder = _embedder(space) if due else None
            if embedder is None or is_left_alone(embedder.space, at=self.clock()):
                break
            for organization_id in due:
                if not goes_on() or self._rests(space):
                    break
                batch = fill_batch(Place(organization_id, space), embedder, self.clock)
                self._mind_provider(space, embedder, batch)
                done += batch.done
        return done

    def _rests(self, space: EmbeddingSpace) -> bool:
        return time.monotonic() < self._free_at.get(space.key, 0.0)

    def _mind_provider(self, space: EmbeddingSpace, embedder: Embedder, batch: Filled) -> None:
        error = batch.stopped_by
        if error is None:
            self._failures.pop(space.key, None)
            return
        failures = self._failures[space.key] = self._failures.get(space.key, 0) + 1
        pause = max(min(LONGEST_PAUSE_S, pause_s(failures)), error.retry_after or 0)
        self._free_at[space.key] = time.monotonic() + pause
        if error.retry_after and error.data.get("status") in ASKING_TO_WAIT:
            leave_alone(embedder.space, until=self.clock() + timedelta(seconds=error.retry_after))


def _embedder(space: EmbeddingSpace) -> Embedder | None:
    try:
        return embedder_of(space)
    except EmbeddingMisconfigured as error:
        _logger.warning("space_not_filled", extra={"space": space.key, "code": error.code})
        return None


def fill_batch(place: Place, embedder: Embedder, clock: Clock) -> Filled:
    """Embed and write what some assets of an organization lack in a space.

    Cost: the calls of the embedder, half a minute of them at most, with no transaction open; then one
          short transaction.
    """
    began = time.monotonic()
    assets = claim_gaps(place, most=BATCH, at=clock())
    filled = Filled()
    if not assets:
        return filled
    texts = _texts(place, assets)
    shop = Shop(
        place.organization_id, place.space, embedder, lambda: time.monotonic() < began + BUDGET_S
    )
    wanted = {name: text for named in texts.values() for name, text in named.items()}
    found = find_vectors(wanted, shop)
    filled.bought, filled.stopped_by = found.bought, found.stopped_by
    filled.done = _write(place, [asset_id for _, asset_id in assets], at=clock())
    filled.failed = _note_refusals(place, texts, found, at=clock())
    _log(place, filled, time.monotonic() - began)
    return filled


def _texts(place: Place, assets: Iterable[tuple[str, UUID]]) -> dict[UUID, dict[str, str]]:
    with organization_context(place.organization_id):
        live = live_assets(place.organization_id, assets)
    texts: dict[UUID, dict[str, str]] = {}
    for asset_id, one in live.items():
        try:
            texts[asset_id] = {piece.text_hash: piece.text for piece in one.pieces()}
        except Exception as error:
            # The queue of changes says why a body cannot be read; the others go on.
            _logger.warning("not_cut", extra={"failure": type(error).__name__})
    return texts


def _write(place: Place, assets: Sequence[UUID], *, at: datetime) -> int:
    """Write the vectors there are, where no change is being indexed at this moment."""
    with organization_context(place.organization_id), spaces_stay():
        free = _free(place, assets)
        values: dict[str, Any] = place.values(at, assets=free)
        with connection.cursor() as cursor:
            cursor.execute(_INSERT, values)
            cursor.execute(_SPEND, values)
        done = settle_gaps(place, free, at=at)
        release_gaps(place, assets, at=at)
    return done


def _free(place: Place, assets: Sequence[UUID]) -> list[UUID]:
    # Held against whoever applies a change; nobody is waited for.
    rows = IndexState.objects.filter(
        organization_id=place.organization_id, asset_id__in=list(assets)
    )
    return list(
        rows.select_for_update(skip_locked=True, no_key=True)
        .order_by("pk")
        .values_list("asset_id", flat=True)
    )


def _note_refusals(
    place: Place, texts: Mapping[UUID, Mapping[str, str]], found: Found, *, at: datetime
) -> int:
    failed = 0
    for asset_id, named in texts.items():
        refused = next((found.refused[name] for name in named if name in found.refused), None)
        if refused is not None:
            fail_gap(place, asset_id, failure_of(refused), at=at)
            failed += 1
    return failed


def _log(place: Place, filled: Filled, seconds: float) -> None:
    _logger.info(
        "filled",
        extra={
            "organization": place.organization_id,
            "space": place.space.key,
            "assets": filled.done,
            "failed": filled.failed,
            "bought": filled.bought,
            "seconds": round(seconds, 3),
        },
    )
