"""Find what a request names: key, organization, agent and session, or one and the same nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from knowledge.retrieval.bounding import LOCK_WAIT, until
from knowledge.retrieval.deadline import Deadline
from tenants.keys import KeyHolder
from tenants.models import PhoneAgent
from voiceapi.errors import NotFound
from voiceapi.models import VoiceSession

_NOTHING: Final = UUID(int=0)


@dataclass(frozen=True)
class Named:
    """The organization and the agent that a request speaks for, by their names on the wire."""

    organization: str
    agent: str


@contextmanager
def within(holder: KeyHolder, deadline: Deadline) -> Iterator[None]:
    """Open a transaction that sees what the key speaks for and ends with the deadline.

    Raises: DeadlinePassed
    """
    with until(deadline, *holder.organizations, settings=LOCK_WAIT):
        yield


def find_agent(holder: KeyHolder, named: Named) -> PhoneAgent:
    """Return the agent, with its organization.

    Raises: NotFound, the same for every reason
    Cost:   one statement
    """
    agent = (
        PhoneAgent.objects.select_related("organization")
        .filter(
            organization_id__in=holder.organizations,
            organization__slug=named.organization,
            organization__is_active=True,
            slug=named.agent,
            is_active=True,
        )
        .first()
    )
    if agent is None:
        raise NotFound
    return agent


def find_session(holder: KeyHolder, named: Named, session: str, *, at: datetime) -> VoiceSession:
    """Return the open session of that agent, with agent, organization and contact.

    Raises: NotFound, the same for every reason
    Cost:   one statement
    """
    found = (
        VoiceSession.objects.select_related("agent__organization", "contact")
        .filter(
            pk=_uuid(session),
            organization_id__in=holder.organizations,
            organization__slug=named.organization,
            organization__is_active=True,
            agent__slug=named.agent,
            agent__is_active=True,
            ended_at=None,
            expires_at__gt=at,
        )
        .first()
    )
    if found is None:
        raise NotFound
    return found


def _uuid(text: str) -> UUID:
    # There is one way to write an id. Anything else is looked for as the id that nothing has, so
    # that it takes as long as an id that is merely unknown.
    try:
        value = UUID(text)
    except ValueError:
        return _NOTHING
    return value if str(value) == text else _NOTHING
