"""The life of a session: opened for one call, alive for hours after its last use, ended once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import connection

from golden.rules import rules_for
from knowledge.retrieval.types import Allowlist
from scopes.resolution import allowlist_for
from scopes.selecting import explicit_selection
from scopes.snapshots import shortened
from tenants.models import Contact, PhoneAgent
from voiceapi.dynamic import AddedInstruction, dynamic_instructions
from voiceapi.errors import NotFound
from voiceapi.models import VoiceSession

LIFE: Final = timedelta(hours=4)
# A use within this time of the last one is not written down: one write a minute is enough.
_COARSE: Final = timedelta(minutes=1)
USUAL_CHANNEL: Final = "phone"
# As a foreign key locks: uses of the session do not wait for it.
_KEEP: Final = (
    "SELECT FROM voiceapi_voicesession WHERE organization_id = %s AND id = %s FOR KEY SHARE"
)


@dataclass(frozen=True)
class CallNote:
    """What the runtime tells of a call."""

    call_id: str = ""
    channel: str = USUAL_CHANNEL
    country: str = ""
    language: str = ""
    contact: str | None = None


@dataclass(frozen=True)
class Opened:
    """A new session, what its agent may search, and the rules and instructions that were added to its prompt."""

    session: VoiceSession
    scope: dict[str, Any]
    rules: tuple[str, ...]
    added: tuple[AddedInstruction, ...]


def open_session(
    agent: PhoneAgent, call: CallNote, wanted: Sequence[str], *, kid: str, at: datetime
) -> Opened:
    """Write down who calls which agent, and what that agent may search at this moment.

    The snapshot is for audit and names the first of many; every search asks the live rows again.
    """
    contact = find_contact(agent, call.contact)
    allowlist = _allowlist(agent, contact, call, at)
    added = dynamic_instructions(wanted, allowlist) if wanted else ()
    scope: dict[str, Any] = {"captured_at": at.astimezone(UTC).isoformat().replace("+00:00", "Z")}
    scope |= explicit_selection(agent)
    session = VoiceSession.objects.create(
        organization_id=agent.organization_id,
        agent=agent,
        contact=contact,
        kid=kid,
        call_id=call.call_id,
        channel=call.channel,
        country=call.country,
        language=call.language,
        snapshot=_snapshot(scope, added),
        created_at=at,
        expires_at=at + LIFE,
    )
    return Opened(session, scope, rules_for(allowlist), added)


def find_contact(agent: PhoneAgent, external_id: str | None) -> Contact | None:
    """Find the caller; an unknown one is nobody in particular and belongs to no segment."""
    if not external_id:
        return None
    return Contact.objects.filter(
        organization_id=agent.organization_id, external_id=external_id
    ).first()


def touch(session: VoiceSession, *, at: datetime) -> None:
    """Let it live on after this use.

    Raises: NotFound when it was ended in the meantime
    """
    if session.expires_at >= at + LIFE - _COARSE:
        return
    if not _alive(session).update(expires_at=at + LIFE):
        raise NotFound
    session.expires_at = at + LIFE


def end_session(session: VoiceSession, *, at: datetime) -> None:
    """End it; from now on it is not there.

    Raises: NotFound when it was ended in the meantime
    """
    if not _alive(session).update(ended_at=at):
        raise NotFound
    session.ended_at = at


def is_kept(session: VoiceSession) -> bool:
    """Whether it is there; from now on whoever forgets it waits until this transaction has ended.

    Cost: one statement
    """
    with connection.cursor() as cursor:
        cursor.execute(_KEEP, [session.organization_id, session.pk])
        return cursor.fetchone() is not None


def _alive(session: VoiceSession) -> Any:
    return VoiceSession.objects.filter(
        organization_id=session.organization_id, pk=session.pk, ended_at=None
    )


def _allowlist(
    agent: PhoneAgent, contact: Contact | None, call: CallNote, at: datetime
) -> Allowlist:
    return allowlist_for(
        agent, contact=contact, channel=call.channel, country=call.country or None, at=at
    )


def _snapshot(scope: dict[str, Any], added: Sequence[AddedInstruction]) -> dict[str, Any]:
    return {
        **scope,
        "instructions": shortened(scope["instructions"]),
        "knowledge": shortened(scope["knowledge"]),
        "dynamic_instructions": [str(instruction.id) for instruction in added],
    }
