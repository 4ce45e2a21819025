"""Tokens of people's programs: issue, revoke, verify. A token acts for one person in one organization."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection

from tenants.access import roles_in
from tenants.auditing import Actor, Change, note
from tenants.errors import EarmarkError
from tenants.isolation import organization_context
from tenants.models import ApiToken, Organization, User

_TOKEN: Final = re.compile(rb"(?P<kid>[A-Za-z0-9_-]{1,32})\.(?P<secret>[!-~]{1,128})")
_NO_SECRET: Final = bytes(32)
_LOOKUP: Final = (
    "SELECT kid, secret_sha256, expires_at, revoked_at, organization_id, user_id"
    " FROM earmark_api_token(%s)"
)


class TokenRefused(EarmarkError):
    """The token is not accepted."""

    code = "token_refused"


class TokenForStranger(EarmarkError):
    """This person has no role in the organization."""

    code = "token_for_stranger"


@dataclass(frozen=True)
class IssuedToken:
    """A new token; its text `<kid>.<secret>` is shown now and never again."""

    row: ApiToken
    token: str = field(repr=False)


@dataclass(frozen=True)
class TokenHolder:
    """Whoever holds a verified token, and the one organization it reaches."""

    kid: str
    user: User
    organization_id: int


def issue_token(
    organization: Organization,
    user: User,
    *,
    label: str,
    by: Actor,
    at: datetime,
    expires_at: datetime | None = None,
) -> IssuedToken:
    """Make a token that may do what the person may do in the organization, now and later.

    Raises: TokenForStranger
    """
    if not roles_in(user, organization.pk):
        raise TokenForStranger
    secret = secrets.token_urlsafe(32)
    with organization_context(organization.pk):
        row = ApiToken.objects.create(
            organization=organization,
            user=user,
            label=label,
            kid=f"et_{secrets.token_hex(8)}",
            secret_sha256=_digest(secret.encode()),
            expires_at=expires_at,
        )
        _note("api_token.issue", row, by=by, at=at)
    return IssuedToken(row, f"{row.kid}.{secret}")


def revoke_token(organization_id: int, pk: UUID, *, by: Actor, at: datetime) -> None:
    """End a token from the next request on; a second time changes nothing."""
    with organization_context(organization_id):
        row = ApiToken.objects.select_for_update(no_key=True).get(
            organization_id=organization_id, pk=pk
        )
        if row.revoked_at is None:
            row.revoked_at = at
            row.save(update_fields=["revoked_at"])
            _note("api_token.revoke", row, by=by, at=at)


def verify_token(token: bytes, *, at: datetime) -> TokenHolder:
    """Return who holds this token.

    Raises: TokenRefused, one and the same for malformed, unknown, revoked and expired tokens and
            for those of people who may no longer sign in.
    Cost:   two statements.
    """
    match = _TOKEN.fullmatch(token)
    row = _row(match["kid"].decode()) if match else None
    kept = bytes(row[1]) if row else _NO_SECRET
    # An unknown token is compared too, so that it takes as long as a known one.
    agrees = hmac.compare_digest(_digest(match["secret"] if match else b""), kept)
    if row is None or not agrees or not _is_in_force(row, at):
        raise TokenRefused
    user = User.objects.filter(pk=row[5], is_active=True).first()
    if user is None:
        raise TokenRefused
    return TokenHolder(row[0], user, row[4])


_Row = tuple[str, bytes, datetime | None, datetime | None, int, int]


def _row(kid: str) -> _Row | None:
    with connection.cursor() as cursor:
        cursor.execute(_LOOKUP, [kid])
        row: _Row | None = cursor.fetchone()
    return row


def _is_in_force(row: _Row, at: datetime) -> bool:
    _, _, expires_at, revoked_at, _, _ = row
    return revoked_at is None and (expires_at is None or at < expires_at)


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


def _note(verb: str, row: ApiToken, *, by: Actor, at: datetime) -> None:
    expires = row.expires_at.isoformat() if row.expires_at else None
    after = {"label": row.label, "person": row.user.get_username(), "expires_at": expires}
    note(row.organization_id, Change(verb, "api_token", row.kid, {}, after), by=by, at=at)
