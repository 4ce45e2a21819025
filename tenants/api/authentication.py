"""Let in people: their programs by token, their browsers by session with CSRF."""

from __future__ import annotations

from typing import Any, Final

from django.utils import timezone
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from tenants.api.errors import CsrfRefused
from tenants.models import User
from tenants.sign_in import needs_second_factor
from tenants.tokens import TokenHolder, TokenRefused, verify_token

_SCHEME: Final = b"bearer"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <kid>.<secret>`, asked of the database on every request."""

    def authenticate(self, request: Request) -> tuple[User, TokenHolder] | None:
        """Return the person and the token; None when no credentials were sent in a header.

        Raises: TokenRefused
        """
        if "Authorization" not in request.headers:
            return None
        holder = verify_token(_token(request), at=timezone.now())  # noqa: TID251 - the door
        return holder.user, holder

    def authenticate_header(self, _request: Request) -> str:
        """Answer 401 rather than 403."""
        return 'Bearer realm="earmark"'


class BrowserAuthentication(SessionAuthentication):
    """The session of the admin; everything that changes something carries the CSRF token."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Return the person, unless a second factor is required that they have yet to set up."""
        if needs_second_factor(request._request):
            return None
        found: tuple[Any, None] | None = super().authenticate(request)
        return found

    def enforce_csrf(self, request: Any) -> None:
        """Refuse a request without the token.

        Raises: CsrfRefused
        """
        try:
            super().enforce_csrf(request)
        except PermissionDenied:
            raise CsrfRefused from None


def _token(request: Request) -> bytes:
    try:
        parts = get_authorization_header(request).split()
    except UnicodeEncodeError:
        raise TokenRefused from None
    if len(parts) != 2 or parts[0].lower() != _SCHEME:
        raise TokenRefused
    return parts[1]
