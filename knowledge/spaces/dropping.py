"""Delete a space that nobody searches, in batches that hold nobody up; it may be stopped and go on later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from knowledge.embedding.selection import forget_active_space
from knowledge.embedding.spaces import Status, spaces_change
from knowledge.models import CalibrationProfile, EmbeddingSpace
from knowledge.spaces.auditing import note_everywhere
from knowledge.spaces.errors import SpaceInUse, SpaceJustLeft
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import Organization

# Longer than any search may take, with the second in which other processes learn of a switch.
SEARCHES_END: Final = timedelta(seconds=15)
BATCH: Final = 5_000
_TABLES: Final = ("knowledge_vector", "knowledge_embeddedtext", "knowledge_spacegap")
_DELETE: Final = """
DELETE FROM {table} WHERE id IN (
  SELECT id FROM {table} WHERE organization_id = %s AND space_id = %s LIMIT %s)
"""


def start_dropping(space: EmbeddingSpace, *, by: Actor, at: datetime) -> EmbeddingSpace:
    """Take a space out of use; nothing fills or searches it any more.

    Raises: SpaceInUse, SpaceJustLeft
    """
    with transaction.atomic(), spaces_change():
        row = EmbeddingSpace.objects.select_for_update(no_key=True).get(pk=space.pk)
        if row.status == Status.ACTIVE:
            raise SpaceInUse
        if row.status == Status.KEPT and row.left_at and at < row.left_at + SEARCHES_END:
            raise SpaceJustLeft
        if row.status != Status.DROPPING:
            note_everywhere("space.drop", row, {"status": row.status}, by=by, at=at)
            row.status = Status.DROPPING
            row.save(update_fields=["status"])
    forget_active_space()
    return row


def drop_batches(space: EmbeddingSpace, tell: Callable[[int], None] | None = None) -> int:
    """Delete everything of a space that is being dropped, then its row; return how many vectors.

    Cost: a short transaction for each 5,000 rows; at the end the database looks through its vectors once.
    """
    deleted = 0
    for number in Organization.objects.order_by("pk").values_list("pk", flat=True):
        for table in _TABLES:
            while count := _delete(table, number, space):
                deleted += count if table == _TABLES[0] else 0
                if tell is not None:
                    tell(deleted)
    _forget_profiles(space)
    EmbeddingSpace.objects.filter(pk=space.pk, status=Status.DROPPING).delete()
    return deleted


def drop_waiting() -> int:
    """Go on with every space that is being dropped; return how many vectors were deleted."""
    waiting = EmbeddingSpace.objects.filter(status=Status.DROPPING).order_by("pk")
    return sum(drop_batches(space) for space in waiting)


def _delete(table: str, organization_id: int, space: EmbeddingSpace) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_DELETE.format(table=table), [organization_id, space.pk, BATCH])
        return int(cursor.rowcount)


def _forget_profiles(space: EmbeddingSpace) -> None:
    for number in Organization.objects.order_by("pk").values_list("pk", flat=True):
        with organization_context(number):
            found = CalibrationProfile.objects.filter(organization_id=number, space=space)
            for pk in found.values_list("pk", flat=True):
                _forget(pk)


def _forget(profile: UUID) -> None:
    # The database drops a profile's terms with it; Django would read all of them first.
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM knowledge_calibrationprofile WHERE id = %s", [profile])
