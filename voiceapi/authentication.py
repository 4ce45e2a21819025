"""Let in who holds a service key, and nobody else."""

from __future__ import annotations

from typing import Final

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from tenants.keys import KeyHolder, KeyRefused, verify_key

_SCHEME: Final = b"bearer"


class ServiceKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer <kid>.<secret>`, asked of the database on every request."""

    def authenticate(self, request: Request) -> tuple[None, KeyHolder]:
        """Return the holder of the key.

        Raises: KeyRefused
        """
        return None, verify_key(_token(request), at=timezone.now())  # noqa: TID251 - the door

    def authenticate_header(self, _request: Request) -> str:
        """Answer 401 rather than 403."""
        return 'Bearer realm="earmark"'


class HoldsServiceKey(BasePermission):
    """A request without a verified key goes no further."""

    def has_permission(self, request: Request, _view: APIView) -> bool:
        """Whether a key was verified."""
        return isinstance(request.auth, KeyHolder)


def holder_of(request: Request) -> KeyHolder:
    """Return who was let in.

    Raises: KeyRefused
    """
    if not isinstance(request.auth, KeyHolder):
        raise KeyRefused
    return request.auth


def _token(request: Request) -> bytes:
    try:
        parts = get_authorization_header(request).split()
    except UnicodeEncodeError:
        raise KeyRefused from None
    if len(parts) != 2 or parts[0].lower() != _SCHEME:
        raise KeyRefused
    return parts[1]
