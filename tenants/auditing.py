"""Write down who did what; called inside the verb's own transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenants.models import AuditEntry, User


@dataclass(frozen=True)
class Actor:
    """Who acts: a person, or a named process such as `ingest`."""

    user_id: int | None
    label: str

    @classmethod
    def person(cls, user: User) -> Actor:
        """Return the actor for someone who is signed in."""
        return cls(user.pk, user.get_username())

    @classmethod
    def process(cls, name: str) -> Actor:
        """Return the actor for a command or a background process."""
        return cls(None, name)


@dataclass(frozen=True)
class Change:
    """What was done to what, and what was there before and after."""

    verb: str
    subject_type: str
    subject_id: str
    before: dict[str, Any]
    after: dict[str, Any]
    reason: str = ""


def note(organization_id: int, change: Change, *, by: Actor, at: datetime) -> AuditEntry:
    """Add an entry to the audit trail."""
    entry = _entry(organization_id, change, by=by, at=at)
    entry.save(force_insert=True)
    return entry


def note_many(organization_id: int, changes: Iterable[Change], *, by: Actor, at: datetime) -> None:
    """Add an entry for each change, in one statement."""
    AuditEntry.objects.bulk_create(_entry(organization_id, one, by=by, at=at) for one in changes)


def _entry(organization_id: int, change: Change, *, by: Actor, at: datetime) -> AuditEntry:
    return AuditEntry(
        organization_id=organization_id,
        at=at,
        actor_id=by.user_id,
        actor_label=by.label,
        verb=change.verb,
        subject_type=change.subject_type,
        subject_id=change.subject_id,
        reason=change.reason,
        before=change.before,
        after=change.after,
    )
