"""The page behind an invitation's link: a new person chooses a name, whoever has an account joins."""

from __future__ import annotations

from typing import Any

from axes.helpers import get_client_ip_address
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from tenants.admin_authority import at_of
from tenants.admin_site import our_site
from tenants.models import Invitation, User
from tenants.people.attempts import LINKS_OPENED, spend
from tenants.people.errors import InvitationInvalid, PersonNameTaken, TooManyAttempts
from tenants.people.forms import NewPersonForm
from tenants.people.inviting import accept, accept_as_new, invitation_of

_BACKEND = "tenants.sign_in.SignInBackend"


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation, and accept it; every link that does not work is the same answer."""
    try:
        spend(LINKS_OPENED, str(get_client_ip_address(request)), at=at_of(request))
        invitation = invitation_of(token, at=at_of(request))
        if isinstance(request.user, User):
            return _join_as(request, request.user, invitation, token)
        return _join_as_new(request, invitation, token)
    except InvitationInvalid as refusal:
        return _refused(request, refusal, 404)
    except TooManyAttempts as refusal:
        return _refused(request, refusal, 429)


def _join_as(request: HttpRequest, user: User, row: Invitation, token: str) -> HttpResponse:
    if request.method != "POST":
        return _page(request, {"invitation": row, "person": user})
    accept(token, user, at=at_of(request))
    return _welcome(request, row)


def _join_as_new(request: HttpRequest, row: Invitation, token: str) -> HttpResponse:
    form = NewPersonForm(request.POST or None, email=row.email)
    if form.is_valid():
        told = form.cleaned_data
        try:
            user = accept_as_new(token, told["username"], told["password1"], at=at_of(request))
        except PersonNameTaken as refusal:
            form.add_error("username", _(str(refusal)))
        else:
            login(request, user, backend=_BACKEND)
            return _welcome(request, row)
    return _page(request, {"invitation": row, "form": form, "here": request.path})


def _welcome(request: HttpRequest, row: Invitation) -> HttpResponse:
    told = _("Welcome. You are in %(organization)s as %(role)s.")
    words = {"organization": row.organization.name, "role": row.get_role_display()}
    messages.success(request, told % words)
    return redirect("admin:index")


def _refused(request: HttpRequest, refusal: Exception, status: int) -> HttpResponse:
    return _page(request, {"refusal": _(str(refusal))}, status=status)


def _page(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    site = our_site().each_context(request) | {"title": _("Invitation")}
    return TemplateResponse(request, "people/join.html", {**site, **context}, status=status)
