"""Service keys of voice runtimes: issue, rotate, revoke, verify. Only a hash of the secret is kept."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.db.models import Q
from django.utils.crypto import salted_hmac

from tenants.auditing import Actor, Change, note
from tenants.errors import EarmarkError
from tenants.isolation import organization_context
from tenants.locking import lock_organization
from tenants.models import Organization, ServiceKey, ServiceKeyBinding

SLOTS: Final = (1, 2)
_TOKEN: Final = re.compile(rb"(?P<kid>[A-Za-z0-9_-]{1,32})\.(?P<secret>[!-~]{1,128})")
_NO_SECRET: Final = bytes(32)
_LOOKUP: Final = (
    "SELECT kid, secret_sha256, expires_at, revoked_at, organizations FROM earmark_service_key(%s)"
)


class KeyRefused(EarmarkError):
    """The service key is not accepted."""

    code = "key_refused"


class KeySlotsTaken(EarmarkError):
    """The organization has two active service keys; revoke one first."""

    code = "key_slots_taken"


@dataclass(frozen=True)
class IssuedKey:
    """A new key with its token `<kid>.<secret>`, which nothing can show a second time."""

    key: ServiceKey
    token: str = field(repr=False)


@dataclass(frozen=True)
class KeyHolder:
    """Whoever holds a verified key, and the organizations it speaks for."""

    kid: str
    organizations: tuple[int, ...]


def issue_key(
    organizations: Sequence[Organization],
    *,
    label: str,
    by: Actor,
    at: datetime,
    expires_at: datetime | None = None,
) -> IssuedKey:
    """Make a key for these organizations, in a free slot of each.

    Raises: KeySlotsTaken
    """
    secret = secrets.token_urlsafe(32)
    ids = sorted(organization.pk for organization in organizations)
    with organization_context(*ids):
        key = ServiceKey.objects.create(
            kid=f"ek_{secrets.token_hex(8)}",
            secret_sha256=_digest(secret.encode()),
            label=label,
            expires_at=expires_at,
        )
        for organization_id in ids:
            _bind(key, organization_id, at)
            _note("service_key.issue", key, organization_id, by=by, at=at)
    return IssuedKey(key, f"{key.kid}.{secret}")


def rotate_key(key: ServiceKey, *, by: Actor, at: datetime, overlap: timedelta) -> IssuedKey:
    """Make the successor of a key; the old one works until the overlap is over.

    Raises: KeySlotsTaken
    """
    organizations = organizations_of_key(key)
    with organization_context(*(organization.pk for organization in organizations)):
        issued = issue_key(organizations, label=key.label, by=by, at=at)
        ends = at + overlap
        key.expires_at = min(key.expires_at, ends) if key.expires_at else ends
        key.save(update_fields=["expires_at"])
        for organization in organizations:
            _note("service_key.rotate", key, organization.pk, by=by, at=at)
    return issued


def revoke_key(key: ServiceKey, *, by: Actor, at: datetime) -> None:
    """End a key everywhere, from the next request on, and free its slots."""
    organizations = [organization.pk for organization in organizations_of_key(key)]
    with organization_context(*organizations):
        ServiceKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=at)
        ServiceKeyBinding.objects.filter(key=key).update(is_active=False)
        for organization_id in organizations:
            _note("service_key.revoke", key, organization_id, by=by, at=at)
    key.refresh_from_db()


def organizations_of_key(key: ServiceKey) -> list[Organization]:
    """Return the organizations a key is bound to."""
    row = _row(key.kid)
    return list(Organization.objects.filter(pk__in=row[4] if row else ()).order_by("pk"))


def verify_key(token: bytes, *, at: datetime) -> KeyHolder:
    """Return who holds this token.

    Raises: KeyRefused, one and the same for malformed, unknown, revoked, expired and unbound keys.
    Cost:   one statement.
    """
    match = _TOKEN.fullmatch(token)
    row = _row(match["kid"].decode()) if match else None
    kept = bytes(row[1]) if row else _NO_SECRET
    # An unknown key is compared too, so that it takes as long as a known one.
    agrees = hmac.compare_digest(_digest(match["secret"] if match else b""), kept)
    if row is None or not agrees or not _is_in_force(row, at):
        raise KeyRefused
    return KeyHolder(row[0], tuple(row[4]))


def signing_secret(kid: str) -> str:
    """Return the secret with which a peer that cannot send a token signs for this key.

    It follows from the key's name and SECRET_KEY, so nothing more is kept, and it ends with the key.
    """
    return salted_hmac("tenants.keys.signing", kid, algorithm="sha256").hexdigest()


def verify_signed(kid: str, body: bytes, signature: str, *, at: datetime) -> KeyHolder:
    """Return who signed this body: HMAC-SHA256 in hexadecimal, with or without `sha256=` before it.

    Raises: KeyRefused, one and the same for every reason.
    Cost:   one statement.
    """
    expected = hmac.new(signing_secret(kid).encode(), body, hashlib.sha256).hexdigest()
    given = signature.removeprefix("sha256=").encode("utf-8", "replace")
    row = _row(kid)
    agrees = hmac.compare_digest(given, expected.encode())
    if row is None or not agrees or not _is_in_force(row, at):
        raise KeyRefused
    return KeyHolder(row[0], tuple(row[4]))


_Row = tuple[str, bytes, datetime | None, datetime | None, list[int]]


def _row(kid: str) -> _Row | None:
    with connection.cursor() as cursor:
        cursor.execute(_LOOKUP, [kid])
        row: _Row | None = cursor.fetchone()
    return row


def _is_in_force(row: _Row, at: datetime) -> bool:
    _, _, expires_at, revoked_at, organizations = row
    return revoked_at is None and (expires_at is None or at < expires_at) and bool(organizations)


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


def _bind(key: ServiceKey, organization_id: int, at: datetime) -> None:
    # The lock makes two people who issue at once take different slots.
    lock_organization(organization_id)
    bindings = ServiceKeyBinding.objects.filter(organization_id=organization_id, is_active=True)
    over = Q(key__expires_at__lte=at) | Q(key__revoked_at__isnull=False)
    bindings.filter(over).update(is_active=False)
    taken = set(bindings.values_list("slot", flat=True))
    free = next((slot for slot in SLOTS if slot not in taken), None)
    if free is None:
        raise KeySlotsTaken
    ServiceKeyBinding.objects.create(organization_id=organization_id, key=key, slot=free)


def _note(verb: str, key: ServiceKey, organization_id: int, *, by: Actor, at: datetime) -> None:
    expires = key.expires_at.isoformat() if key.expires_at else None
    after = {"label": key.label, "expires_at": expires}
    note(organization_id, Change(verb, "service_key", key.kid, {}, after), by=by, at=at)
