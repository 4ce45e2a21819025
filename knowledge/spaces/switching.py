"""Search in another space from now on, or in the one before again: one transaction, at any time.

A search that is under way ends in the space that it began with, which stays filled until it is dropped.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from knowledge.embedding.selection import embedder_of, forget_active_space
from knowledge.embedding.spaces import Status, active_space, spaces_change
from knowledge.models import EmbeddingSpace, SpaceGap
from knowledge.spaces.auditing import note_everywhere
from knowledge.spaces.errors import (
    NothingToGoBackTo,
    SpaceIncomplete,
    SpaceInUse,
    SpaceNotReady,
    SpaceUncalibrated,
)
from knowledge.spaces.progress import Progress, progress
from tenants.auditing import Actor
from tenants.models import Organization


def switch(
    space: EmbeddingSpace, *, by: Actor, at: datetime, allow_missing: int = 0
) -> EmbeddingSpace:
    """Search in this space from now on; the one before is kept filled.

    Raises: SpaceInUse, SpaceNotReady, EmbeddingMisconfigured; SpaceIncomplete when more assets than
            `allow_missing` lack vectors; SpaceUncalibrated.
    Cost:   three statements for each organization; changes wait to be indexed only while it is noted.
    """
    embedder_of(space)
    _refuse_status(space)
    _refuse_unready(progress(space, Organization.objects.order_by("pk")), allow_missing)
    with transaction.atomic(), spaces_change():
        target = EmbeddingSpace.objects.select_for_update(no_key=True).get(pk=space.pk)
        _refuse_status(target)
        # A change that came in since has written down its gap, and none can now.
        _refuse_missing(SpaceGap.objects.filter(space=target).count(), 0, allow_missing)
        _activate(target, "space.switch", by=by, at=at)
    forget_active_space()
    return target


def roll_back(*, by: Actor, at: datetime) -> EmbeddingSpace:
    """Search in the space before again, whatever it may lack by now.

    Raises: NothingToGoBackTo, EmbeddingMisconfigured
    """
    with transaction.atomic(), spaces_change():
        target = space_before()
        if target is None:
            raise NothingToGoBackTo
        embedder_of(target)
        _activate(target, "space.rollback", by=by, at=at)
    forget_active_space()
    return target


def space_before() -> EmbeddingSpace | None:
    """Return the space that was searched before this one, if it is still kept."""
    kept = EmbeddingSpace.objects.filter(status=Status.KEPT)
    return kept.order_by("-left_at", "-pk").first()


def stands_in_the_way(found: list[Progress], allow_missing: int = 0) -> str:
    """Return why a space is not switched to, in a sentence; nothing when it may be."""
    try:
        _refuse_unready(found, allow_missing)
    except (SpaceIncomplete, SpaceUncalibrated) as error:
        return str(error)
    return ""


def _refuse_status(space: EmbeddingSpace) -> None:
    if space.status == Status.ACTIVE:
        raise SpaceInUse("This embedding space is searched already.")
    if space.status not in {Status.FILLING, Status.KEPT}:
        raise SpaceNotReady


def _refuse_missing(missing: int, failed: int, allow_missing: int) -> None:
    if missing > allow_missing:
        raise SpaceIncomplete(
            f"The embedding space lacks vectors of {missing} rows, {failed} of which failed:"
            " fill it first."
        )


def _refuse_unready(found: list[Progress], allow_missing: int) -> None:
    _refuse_missing(
        sum(one.missing for one in found), sum(one.failed for one in found), allow_missing
    )
    unmeasured = [one.organization.slug for one in found if one.needs_profile]
    if unmeasured:
        raise SpaceUncalibrated(
            "What a good match is has not been measured in this embedding space yet for:"
            f" {', '.join(unmeasured)}."
        )


def _activate(target: EmbeddingSpace, verb: str, *, by: Actor, at: datetime) -> None:
    before = active_space()
    if before is not None:
        before.status, before.left_at = Status.KEPT, at
        before.save(update_fields=["status", "left_at"])
    target.status, target.activated_at = Status.ACTIVE, at
    target.save(update_fields=["status", "activated_at"])
    note_everywhere(verb, target, {"space": before.key if before else ""}, by=by, at=at)
