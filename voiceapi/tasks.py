"""What the voice API does now and then, as Celery tasks: the same as the drain's chores."""

from __future__ import annotations

from datetime import UTC, datetime

from celery import shared_task

from scopes.probing import look_everywhere
from voiceapi.retention import forget_old
from voiceapi.tidying import tidy_up


@shared_task(name="voiceapi.forget_old")
def forget() -> int:
    """Delete calls and searches that were kept long enough."""
    return sum(done.searches + done.sessions for done in forget_old(_now()).values())


@shared_task(name="voiceapi.tidy_up")
def tidy() -> int:
    """Delete what nobody needs any more and nothing else deletes."""
    return sum(tidy_up(_now()).values())


@shared_task(name="voiceapi.look_for_leaks")
def look_for_leaks() -> int:
    """Search for canaries from where nobody may find one; return how many were found."""
    return sum(len(look.leaks) for look in look_everywhere(_now()).values())


def _now() -> datetime:
    return datetime.now(tz=UTC)  # noqa: TID251 - this is a door; rules take `at`
