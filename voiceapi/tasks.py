"""What the voice API does now and then, as Celery tasks: the same as the drain's chores."""

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task

from voiceapi.retention import forget_old


@shared_task(name="voiceapi.forget_old")
def forget() -> int:
    """Delete calls and searches that were kept long enough."""
    at = datetime.now(tz=UTC)  # noqa: TID251 - this is a door; rules take `at`
    return sum(done.searches + done.sessions for done in forget_old(at).values())
