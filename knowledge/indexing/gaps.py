"""What a space lacks of what is indexed: a row for each asset, written with the passages themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection

from knowledge.indexing.backoff import MOST_ATTEMPTS, Failure, next_attempt_at
from knowledge.models import EmbeddingSpace, SpaceGap
from tenants.isolation import organization_context

# A batch ends within its budget and one call of the embedder; then whoever had it is dead.
LEASE: Final = timedelta(seconds=120)
AGAIN: Final = timedelta(seconds=1)
SEEDED_AT_ONCE: Final = 5_000
LACKING: Final = """EXISTS (SELECT FROM knowledge_chunk c
   WHERE c.organization_id = d.organization_id AND c.document_id = d.id
     AND NOT EXISTS (SELECT FROM knowledge_vector v
       WHERE v.organization_id = c.organization_id AND v.chunk_id = c.id AND v.space_id = {space}))"""
_NOTE: Final = f"""
INSERT INTO knowledge_spacegap AS g
  (organization_id, space_id, category, asset_id, attempts, next_attempt_at, error_code, error)
SELECT d.organization_id, s.id, d.category, d.asset_id, 0, %(at)s, '', ''
  FROM knowledge_document d CROSS JOIN unnest(%(spaces)s::bigint[]) AS s(id)
 WHERE d.organization_id = %(organization)s AND d.asset_id = ANY(%(assets)s)
   AND {LACKING.format(space="s.id")}
    ON CONFLICT (organization_id, space_id, asset_id)
    DO UPDATE SET attempts = 0, next_attempt_at = excluded.next_attempt_at, error_code = '', error = ''
"""  # noqa: S608 - composed of constants; every value is bound
_SEED: Final = f"""
INSERT INTO knowledge_spacegap
  (organization_id, space_id, category, asset_id, attempts, next_attempt_at, error_code, error)
SELECT DISTINCT ON (d.asset_id) d.organization_id, %(space)s, d.category, d.asset_id, 0, %(at)s, '', ''
  FROM knowledge_document d
 WHERE d.organization_id = %(organization)s AND {LACKING.format(space="%(space)s")}
   AND NOT EXISTS (SELECT FROM knowledge_spacegap g WHERE g.organization_id = d.organization_id
     AND g.space_id = %(space)s AND g.asset_id = d.asset_id)
 ORDER BY d.asset_id LIMIT %(most)s
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - as above
_CLAIM: Final = """
UPDATE knowledge_spacegap g SET lease_until = %(until)s WHERE g.id IN (
  SELECT id FROM knowledge_spacegap
   WHERE space_id = %(space)s AND organization_id = %(organization)s AND next_attempt_at <= %(at)s
     AND attempts < %(attempts)s AND (lease_until IS NULL OR lease_until < %(at)s)
   ORDER BY next_attempt_at, id LIMIT %(most)s FOR UPDATE SKIP LOCKED)
RETURNING g.category, g.asset_id
"""
_DUE: Final = """
SELECT o.id FROM tenants_organization o WHERE EXISTS (
  SELECT FROM knowledge_spacegap g WHERE g.space_id = %(space)s AND g.organization_id = o.id
     AND g.next_attempt_at <= %(at)s AND g.attempts < %(attempts)s
     AND (g.lease_until IS NULL OR g.lease_until < %(at)s))
 ORDER BY o.id
"""
# What is behind its truth row comes back when that is indexed.
_SETTLE: Final = f"""
DELETE FROM knowledge_spacegap g
 WHERE g.organization_id = %(organization)s AND g.space_id = %(space)s AND g.asset_id = ANY(%(assets)s)
   AND (EXISTS (SELECT FROM knowledge_indexstate s WHERE s.organization_id = g.organization_id
          AND s.asset_id = g.asset_id AND s.applied_generation < s.desired_generation)
     OR NOT EXISTS (SELECT FROM knowledge_document d
          WHERE d.organization_id = g.organization_id AND d.asset_id = g.asset_id
            AND {LACKING.format(space="%(space)s")}))
"""  # noqa: S608 - as above


@dataclass(frozen=True)
class Place:
    """One organization's part of a space."""

    organization_id: int
    space: EmbeddingSpace

    def values(self, at: datetime, **more: Any) -> dict[str, Any]:
        """Return what the statements here need."""
        named = {"organization": self.organization_id, "space": self.space.pk, "at": at}
        return named | {"attempts": MOST_ATTEMPTS} | more


def note_gaps(
    organization_id: int, spaces: Sequence[int], assets: Iterable[UUID], *, at: datetime
) -> None:
    """Write down which of these assets other spaces lack, in the transaction that wrote their passages."""
    if spaces:
        values = {"organization": organization_id, "spaces": list(spaces), "assets": list(assets)}
        _run(_NOTE, values | {"at": at})


def seed_gaps(place: Place, *, at: datetime) -> int:
    """Write down everything a space lacks and that is not written down yet; return how much it was.

    Cost: a look-up for each passage of the organization, in transactions of 5,000 assets.
    """
    values = place.values(at, most=SEEDED_AT_ONCE)
    found = total = _seeded(place, values)
    while found:
        found = _seeded(place, values)
        total += found
    return total


def _seeded(place: Place, values: dict[str, Any]) -> int:
    with organization_context(place.organization_id):
        return _run(_SEED, values)


def organizations_due(space: EmbeddingSpace, *, at: datetime) -> list[int]:
    """Return the organizations that have something to fill now.

    Cost: one index probe for each organization.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DUE, {"space": space.pk, "at": at, "attempts": MOST_ATTEMPTS})
        return [number for (number,) in cursor.fetchall()]


def claim_gaps(place: Place, *, most: int, at: datetime) -> list[tuple[str, UUID]]:
    """Take some assets that nobody is at; the lease of whoever dies runs out."""
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, place.values(at, most=most, until=at + LEASE))
        return [(category, asset_id) for category, asset_id in cursor.fetchall()]


def settle_gaps(place: Place, assets: Sequence[UUID], *, at: datetime) -> int:
    """Delete the rows of what is complete now; return how many. Expects the organization's context."""
    return _run(_SETTLE, place.values(at, assets=list(assets)))


def release_gaps(place: Place, assets: Iterable[UUID], *, at: datetime) -> None:
    """Let somebody else try what was not finished, a moment later."""
    _of(place, assets).update(lease_until=None, next_attempt_at=at + AGAIN)


def fail_gap(place: Place, asset_id: UUID, failure: Failure, *, at: datetime) -> None:
    """Note why an asset could not be filled; after some attempts nobody tries again by himself."""
    for gap in _of(place, [asset_id]):
        gap.attempts += 1
        gap.next_attempt_at = next_attempt_at(gap.attempts, failure, at=at)
        gap.lease_until = None
        gap.error_code, gap.error = failure.code, failure.reason[:2_000]
        gap.save()


def retry_gaps(space: EmbeddingSpace, *, at: datetime) -> int:
    """Try again what had failed too often."""
    failed = SpaceGap.objects.filter(space=space, attempts__gt=0)
    return failed.update(attempts=0, next_attempt_at=at, lease_until=None)


def _of(place: Place, assets: Iterable[UUID]) -> Any:
    return SpaceGap.objects.filter(
        organization_id=place.organization_id, space=place.space, asset_id__in=list(assets)
    )


def _run(statement: str, values: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)
