"""How people sign in: name, password, and the code of an authenticator for those who have set one up.

Wrong passwords are counted twice. Per name and address (django-axes) many at once are stopped; per name
alone (here) slow guessing from everywhere is held to a few an hour.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import authenticate
from django.contrib.auth.backends import ModelBackend
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Greatest
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_totp.models import TOTPDevice

from tenants.models import User

# Twenty wrong passwords for one name at once, from wherever; then one every three minutes.
GUESS_COSTS: Final = timedelta(minutes=3)
GUESSES_AHEAD: Final = timedelta(hours=1)


class SignInBackend(ModelBackend):
    """Password and second factor are one answer: whoever has the one does not learn that it is right."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        token: str = "",
        **kwargs: Any,
    ) -> User | None:
        """Return the person, or None: unknown, wrong, inactive, or guessed at too often."""
        at = timezone.now()  # noqa: TID251 - the door
        found: Any = super().authenticate(request, username, password, **kwargs)
        known = found or User.objects.filter(username=username).first()
        if known is None or _is_guessed_at(known, at):
            return None
        if found is None or (known.has_second_factor and not takes_code(known, token)):
            _count_guess(known, at)
            return None
        User.objects.filter(pk=known.pk).exclude(guesses_until=None).update(guesses_until=None)
        return known


class SignInForm(AdminAuthenticationForm):
    """The form, with a box for the code that those without a second factor leave empty."""

    token = forms.CharField(
        label=_("Code"),
        required=False,
        max_length=12,
        help_text=_("From your authenticator, if you have set one up."),
        widget=forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )

    def clean(self) -> dict[str, Any]:
        """Ask with all three; the sentence of a refusal does not say which was wrong."""
        told: dict[str, Any] = self.cleaned_data
        username, password = told.get("username"), told.get("password")
        if username is not None and password:
            self.user_cache = authenticate(
                self.request, username=username, password=password, token=told.get("token", "")
            )
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return told


def takes_code(user: User, code: str) -> bool:
    """Whether a confirmed device of this person takes the code; none takes the same one twice."""
    # An empty box is no guess, so it does not slow the device down.
    if not code.strip():
        return False
    with transaction.atomic():
        devices = TOTPDevice.objects.filter(user=user, confirmed=True).select_for_update(
            no_key=True
        )
        return any(device.verify_token(code.strip()) for device in devices)


def needs_second_factor(request: HttpRequest) -> bool:
    """Whether this installation requires a second factor that the person has yet to set up."""
    user = request.user
    required: bool = settings.SECOND_FACTOR_REQUIRED
    return required and isinstance(user, User) and not user.has_second_factor


def _is_guessed_at(user: User, at: datetime) -> bool:
    return user.guesses_until is not None and user.guesses_until > at + GUESSES_AHEAD - GUESS_COSTS


def _count_guess(user: User, at: datetime) -> None:
    paid = Greatest(Coalesce(F("guesses_until"), at), at)
    User.objects.filter(pk=user.pk).update(guesses_until=paid + GUESS_COSTS)
