"""The verbs of invitations: made, sent again, taken back, and accepted once.

Only a hash of the link's secret is kept. Whoever holds the link may use it, so it is short-lived and ends
with its first use, with the next one that is sent, and with the administration of whoever made it.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from tenants.access import may
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import Invitation, Membership, Organization, Role, User
from tenants.people.errors import InvitationInvalid, InvitationOver, PersonNameTaken

LASTS: Final = timedelta(hours=72)
_LONGEST_TOKEN: Final = 128
_LOOKUP: Final = "SELECT id, organization_id FROM earmark_invitation(%s)"


@dataclass(frozen=True)
class IssuedInvitation:
    """An invitation with the secret of its link, which is known now and never again."""

    row: Invitation
    token: str = field(repr=False)


def invite(
    organization: Organization, email: str, role: str, *, by: Actor, at: datetime
) -> IssuedInvitation:
    """Invite whoever reads this mailbox to a role."""
    token = secrets.token_urlsafe(32)
    with organization_context(organization.pk):
        row = Invitation.objects.create(
            organization=organization,
            email=email,
            role=role,
            secret_sha256=_digest(token),
            invited_by_id=by.user_id,
            sent_at=at,
            expires_at=at + LASTS,
        )
        _note("people.invite", row, by=by, at=at)
    return IssuedInvitation(row, token)


def invite_again(organization_id: int, pk: UUID, *, by: Actor, at: datetime) -> IssuedInvitation:
    """Give an open invitation a new link and a new time; the old link ends.

    Raises: InvitationOver, Invitation.DoesNotExist
    """
    token = secrets.token_urlsafe(32)
    with organization_context(organization_id):
        row = _locked(organization_id, pk)
        if row.is_over:
            raise InvitationOver
        row.secret_sha256, row.invited_by_id = _digest(token), by.user_id
        row.sent_at, row.expires_at = at, at + LASTS
        row.save()
        _note("people.invite_again", row, by=by, at=at)
    return IssuedInvitation(row, token)


def take_back(organization_id: int, pk: UUID, *, by: Actor, at: datetime) -> None:
    """End an open invitation from the next request on; a second time changes nothing.

    Raises: InvitationOver when it was used, Invitation.DoesNotExist
    """
    with organization_context(organization_id):
        row = _locked(organization_id, pk)
        if row.accepted_at is not None:
            raise InvitationOver
        if row.revoked_at is None:
            _end(row, by=by, at=at)


def invitation_of(token: str, *, at: datetime) -> Invitation:
    """Return the invitation that a link stands for.

    Raises: InvitationInvalid, one and the same for unknown, used, revoked and expired links, for those
            of organizations that are not served and of people who administer them no longer.
    """
    organization_id, pk = _named(token)
    with organization_context(organization_id):
        return _usable(organization_id, pk, token, at=at)


def is_open(row: Invitation, at: datetime) -> bool:
    """Whether the link can be used; it ends with the administration of whoever made it.

    Cost: one statement.
    """
    if row.is_over or at >= row.expires_at:
        return False
    return row.invited_by is None or may(row.invited_by, Role.ADMIN, row.organization_id)


def accept(token: str, user: User, *, at: datetime) -> Invitation:
    """Let somebody who has an account join; the link ends.

    Raises: InvitationInvalid
    """
    organization_id, pk = _named(token)
    with organization_context(organization_id):
        row = _usable(organization_id, pk, token, at=at)
        _join(row, user, at=at)
    return row


def accept_as_new(token: str, username: str, password: str, *, at: datetime) -> User:
    """Make the account of a new person and let it join, both or neither; the link ends.

    Raises: InvitationInvalid, PersonNameTaken
    """
    organization_id, pk = _named(token)
    with organization_context(organization_id):
        row = _usable(organization_id, pk, token, at=at)
        user = _account(username, row.email, password)
        _join(row, user, at=at)
    return user


def _account(username: str, email: str, password: str) -> User:
    try:
        with transaction.atomic():
            return User.objects.create_user(username, email, password, is_staff=True)
    except IntegrityError:
        raise PersonNameTaken from None


def _join(row: Invitation, user: User, *, at: datetime) -> None:
    Membership.objects.get_or_create(user=user, organization_id=row.organization_id, role=row.role)
    row.accepted_at, row.accepted_by = at, user
    row.save(update_fields=["accepted_at", "accepted_by"])
    _note("people.join", row, by=Actor.person(user), at=at)


def _named(token: str) -> tuple[int, UUID]:
    if not token.isascii() or len(token) > _LONGEST_TOKEN:
        raise InvitationInvalid
    with connection.cursor() as cursor:
        cursor.execute(_LOOKUP, [_digest(token)])
        row: tuple[UUID, int] | None = cursor.fetchone()
    if row is None:
        raise InvitationInvalid
    return row[1], row[0]


def _usable(organization_id: int, pk: UUID, token: str, *, at: datetime) -> Invitation:
    rows = Invitation.objects.select_for_update(of=("self",), no_key=True)
    rows = rows.select_related("organization", "invited_by")
    row = rows.filter(organization_id=organization_id, pk=pk).first()
    # Read under the lock: it may have been used, taken back or sent again meanwhile.
    if row is None or bytes(row.secret_sha256) != _digest(token):
        raise InvitationInvalid
    if not is_open(row, at) or not row.organization.is_active:
        raise InvitationInvalid
    return row


def _locked(organization_id: int, pk: UUID) -> Invitation:
    rows = Invitation.objects.select_for_update(of=("self",), no_key=True).select_related(
        "organization"
    )
    return rows.get(organization_id=organization_id, pk=pk)


def _end(row: Invitation, *, by: Actor, at: datetime) -> None:
    row.revoked_at = at
    row.save(update_fields=["revoked_at"])
    _note("people.take_back", row, by=by, at=at)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _note(verb: str, row: Invitation, *, by: Actor, at: datetime) -> None:
    after: dict[str, Any] = {"email": row.email, "role": row.role}
    note(row.organization_id, Change(verb, "invitation", str(row.pk), {}, after), by=by, at=at)
