"""What a failed attempt means for the next one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import Error, InterfaceError, OperationalError

from knowledge.errors import EmbeddingFailed
from tenants.errors import EarmarkError

MOST_ATTEMPTS: Final = 5
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 600.0
# An attempt that left no word: its process was killed. One that is always the last is poison.
INTERRUPTED: Final = "interrupted"


@dataclass(frozen=True)
class Failure:
    """Why an attempt failed, without a word of any body.

    Units: retry_after in seconds, as the provider asked.
    """

    code: str
    reason: str
    is_transient: bool
    retry_after: float | None = None


def failure_of(error: Exception) -> Failure:
    """Return what an error says about the next attempt."""
    if isinstance(error, EmbeddingFailed):
        return Failure(error.code, str(error), error.retryable, error.retry_after)
    if isinstance(error, EarmarkError):
        return Failure(error.code, str(error), error.retryable)
    if isinstance(error, Error):
        transient = isinstance(error, OperationalError | InterfaceError)
        return Failure("database", f"The database said {type(error).__name__}.", transient)
    reason = f"It cannot be indexed: {type(error).__name__}."
    return Failure("unreadable", reason, is_transient=False)


def pause_s(attempts: int, retry_after: float | None = None) -> float:
    """Return the seconds until the next attempt: doubled each time, ten minutes at most."""
    doubled = FIRST_PAUSE_S * 2.0 ** min(max(attempts - 1, 0), 20)
    return min(LONGEST_PAUSE_S, max(doubled, retry_after or 0.0))


def next_attempt_at(attempts: int, failure: Failure, *, at: datetime) -> datetime:
    """Return when to try again."""
    return at + timedelta(seconds=pause_s(attempts, failure.retry_after))


def is_final(attempts: int, failure: Failure) -> bool:
    """Whether nothing but a change or a retry by staff will help."""
    return not failure.is_transient and attempts >= MOST_ATTEMPTS
