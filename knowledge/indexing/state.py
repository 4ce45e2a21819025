"""What the index should hold: raised in the transaction that changes a truth row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from knowledge.indexing.nudging import nudge_after_commit
from knowledge.models import IndexState

# One statement, so that twenty concurrent saves of one asset count to twenty.
_RAISE = """
INSERT INTO knowledge_indexstate AS s
  (id, organization_id, category, asset_id, desired_generation, applied_generation, desired_version,
   document_key, fingerprint, status, attempts, next_attempt_at, last_error_code, last_error, desired_at)
SELECT gen_random_uuid(), %(organization)s, %(category)s, w.asset, 1, 0, w.version,
       '', '', 'pending', 0, %(at)s, '', '', %(at)s
  FROM unnest(%(assets)s::uuid[], %(versions)s::uuid[]) AS w(asset, version) ORDER BY w.asset
ON CONFLICT (organization_id, asset_id) DO UPDATE SET
  desired_generation = s.desired_generation + 1,
  desired_version = CASE WHEN %(keeps)s THEN s.desired_version ELSE excluded.desired_version END,
  status = 'pending', attempts = 0, next_attempt_at = excluded.next_attempt_at,
  last_error_code = '', last_error = '', desired_at = excluded.desired_at
"""


def raise_desired(
    organization_id: int,
    category: str,
    asset_id: UUID,
    *,
    at: datetime,
    version: UUID | None = None,
) -> None:
    """Say that what the index holds of an asset is out of date; a drain is told after the commit.

    Whoever works on it now keeps the lease, finds the generation changed, and starts again.
    """
    raise_desired_versions(organization_id, category, {asset_id: version}, at=at)


def raise_desired_versions(
    organization_id: int, category: str, versions: Mapping[UUID, UUID | None], *, at: datetime
) -> None:
    """Say the same of many assets, each with its version, in one statement."""
    _raise(organization_id, category, versions, {"at": at, "keeps": False})


def raise_desired_for_all(
    organization_id: int, category: str, asset_ids: Iterable[UUID], *, at: datetime
) -> None:
    """Say the same of many assets in one statement; their versions stay as they are."""
    _raise(organization_id, category, dict.fromkeys(asset_ids), {"at": at, "keeps": True})


def _raise(
    organization_id: int,
    category: str,
    versions: Mapping[UUID, UUID | None],
    values: dict[str, Any],
) -> None:
    named = {
        "organization": organization_id,
        "category": category,
        "assets": list(versions),
        "versions": list(versions.values()),
    }
    with connection.cursor() as cursor:
        cursor.execute(_RAISE, values | named)
    nudge_after_commit()


def retry_failed(
    organization_id: int, *, at: datetime, asset_ids: Iterable[UUID] | None = None
) -> int:
    """Try again what had failed for good or waits for its next attempt; return how many."""
    waiting = IndexState.objects.filter(
        organization_id=organization_id,
        status__in=[IndexState.Status.FAILED, IndexState.Status.RETRYING],
    )
    if asset_ids is not None:
        waiting = waiting.filter(asset_id__in=list(asset_ids))
    count = waiting.update(status=IndexState.Status.PENDING, attempts=0, next_attempt_at=at)
    nudge_after_commit()
    return count
