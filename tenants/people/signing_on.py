"""Single sign-on: a provider says whose mailbox it is; the account and its roles are ours.

Only where the settings name a provider is this module loaded.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import jwt
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from requests.exceptions import RequestException

from tenants.admin_authority import at_of
from tenants.admin_site import our_site
from tenants.models import User
from tenants.people.mailboxes import hand_to_owner, owners

log = logging.getLogger(__name__)


class SignOnBackend(OIDCAuthenticationBackend):  # type: ignore[misc]
    """Signs in the one account of a confirmed mailbox; makes none."""

    def authenticate(self, request: HttpRequest | None, **kwargs: Any) -> User | None:
        """Return the person; None when the provider refuses, is away, or says something else."""
        try:
            found: User | None = super().authenticate(request, **kwargs)
        except (RequestException, SuspiciousOperation, jwt.PyJWTError, ValueError) as error:
            # What a provider answers may hold names and tokens.
            log.warning("sign_on_failed", extra={"reason": type(error).__name__})
            return None
        return found

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """Take only what was made for us; the library leaves that out."""
        told: dict[str, Any] = super().verify_token(token, **kwargs)
        audience = told.get("aud")
        if self.OIDC_RP_CLIENT_ID not in (audience if isinstance(audience, list) else [audience]):
            raise SuspiciousOperation("made for somebody else")
        return told

    def verify_claims(self, claims: Mapping[str, Any]) -> bool:
        """Take only a mailbox that the provider has confirmed."""
        return bool(claims.get("email")) and claims.get("email_verified") is True

    def filter_users_by_claims(self, claims: Mapping[str, Any]) -> Sequence[User]:
        """Return who can sign in with this mailbox; two of them are none."""
        return owners(str(claims["email"]))

    def update_user(self, user: User, claims: Mapping[str, Any]) -> User:  # noqa: ARG002
        """Return the account, which is its owner's alone from the first time on."""
        return hand_to_owner(user, at=at_of(self.request))


def refused(request: HttpRequest) -> HttpResponse:
    """Say that it did not work, whatever the reason."""
    told = _(
        "Signing in did not work: there is no account with your confirmed address, or the provider refused. Ask an administrator to invite you."
    )
    context = our_site().each_context(request) | {"title": _("Single sign-on"), "refusal": told}
    return TemplateResponse(request, "people/join.html", context, status=403)
