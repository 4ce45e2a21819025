"""The page on which a person sets up an authenticator, or takes it away again."""

from __future__ import annotations

import logging
from base64 import b32encode
from typing import Any

import segno
from django.contrib import admin, messages
from django.contrib.auth import update_session_auth_hash
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django_otp.plugins.otp_totp.models import TOTPDevice

from tenants.models import User
from tenants.sign_in import takes_code

log = logging.getLogger(__name__)


@never_cache
def second_factor(request: HttpRequest) -> HttpResponse:
    """Show the secret of a new device, or that there is one; a right code confirms or removes it."""
    user = request.user
    assert isinstance(user, User)
    if request.method == "POST":
        change = _remove if user.has_second_factor else _confirm
        if change(user, request.POST.get("code", "")):
            # Every other session of this person ends: it was opened under other rules.
            update_session_auth_hash(request, user)
            messages.success(request, _("Saved. Your other sessions have ended."))
        else:
            messages.error(
                request, _("That code is not right. Wait for the next one and try again.")
            )
        return redirect("admin:second_factor")
    return TemplateResponse(request, "admin/tenants/second_factor.html", _context(request, user))


def reset(user: User) -> None:
    """Take a lost device away; the person signs in with the password alone until there is a new one."""
    _without(user)


def _context(request: HttpRequest, user: User) -> dict[str, Any]:
    context = {**admin.site.each_context(request), "title": _("Second factor")}
    if user.has_second_factor:
        return context
    device = _new_device(user)
    address = device.config_url
    return context | {
        "secret": b32encode(device.bin_key).decode(),
        "address": address,
        "picture": segno.make(address, error="m").svg_data_uri(scale=4, light="#fff"),
    }


def _new_device(user: User) -> TOTPDevice:
    """Return the device that is being set up: the same one until it is confirmed."""
    device, _made = TOTPDevice.objects.get_or_create(
        user=user, confirmed=False, defaults={"name": "authenticator"}
    )
    return device


@transaction.atomic
def _confirm(user: User, code: str) -> bool:
    device = (
        TOTPDevice.objects.filter(user=user, confirmed=False).select_for_update(no_key=True).first()
    )
    if device is None or not device.verify_token(code.strip()):
        return False
    device.confirmed = True
    device.save()
    user.has_second_factor = True
    user.save(update_fields=["has_second_factor"])
    log.info("second_factor_added", extra={"person": user.pk})
    return True


def _remove(user: User, code: str) -> bool:
    if not takes_code(user, code):
        return False
    _without(user)
    return True


@transaction.atomic
def _without(user: User) -> None:
    TOTPDevice.objects.filter(user=user).delete()
    user.has_second_factor = False
    user.save(update_fields=["has_second_factor"])
    log.info("second_factor_removed", extra={"person": user.pk})
