"""A new password by mail: one answer whether or not the account exists, and a link that works once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from axes.helpers import get_client_ip_address
from axes.utils import reset
from django import forms
from django.contrib.auth import views
from django.contrib.auth.forms import PasswordResetForm, SetPasswordForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template import loader
from django.urls import reverse_lazy
from django.utils.translation import gettext as _

from tenants.access import roles_by_organization
from tenants.admin_authority import at_of
from tenants.admin_site import our_site
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import User
from tenants.people import mailing
from tenants.people.attempts import RESETS_ASKED, RESETS_SENT, spend
from tenants.people.errors import TooManyAttempts
from tenants.people.mailboxes import naming

if TYPE_CHECKING:
    _SetPassword = SetPasswordForm[User]
else:
    _SetPassword = SetPasswordForm


class AskForm(PasswordResetForm):
    """The mailbox; the mail goes out beside the answer."""

    def get_users(self, email: str) -> Iterable[User]:
        """Return whose mailbox it is; one that only looks alike would be another one to the limits."""
        return naming(email, super().get_users(email))

    def send_mail(
        self,
        subject_template_name: str,
        email_template_name: str,
        context: dict[str, Any],
        from_email: str | None,  # noqa: ARG002
        to_email: str,
        html_email_template_name: str | None = None,  # noqa: ARG002
    ) -> None:
        """Hand the mail over."""
        subject = loader.render_to_string(subject_template_name, context)
        mailing.hand_over(subject, loader.render_to_string(email_template_name, context), to_email)


class _OurPage:
    """Puts a page of Django's into our site."""

    request: HttpRequest

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return what every page of the site shows."""
        beside: dict[str, Any] = super().get_context_data(**kwargs)  # type: ignore[misc]
        return {**our_site().each_context(self.request), **beside, "can_send": mailing.can_send()}


class AskPage(_OurPage, views.PasswordResetView):
    """Asks for the mailbox."""

    form_class = AskForm
    template_name = "people/reset_ask.html"
    email_template_name = "people/reset_mail.txt"
    subject_template_name = "people/reset_subject.txt"
    success_url = reverse_lazy("password_reset_done")

    def form_valid(self, form: forms.BaseForm) -> HttpResponse:
        """Send a link, or not; the answer is the same."""
        at = at_of(self.request)
        try:
            spend(RESETS_ASKED, str(get_client_ip_address(self.request)), at=at)
        except TooManyAttempts as refusal:
            form.add_error(None, _(str(refusal)))
            return self.render_to_response(self.get_context_data(form=form), status=429)
        try:
            spend(RESETS_SENT, form.cleaned_data["email"].lower(), at=at)
        except TooManyAttempts:
            # Saying so would tell that somebody asked for this mailbox before.
            return HttpResponse(status=302, headers={"Location": str(self.success_url)})
        return super().form_valid(form)  # type: ignore[arg-type]


class AskedPage(_OurPage, views.PasswordResetDoneView):
    """Says that a mail is on its way, if there is an account."""

    template_name = "people/reset_asked.html"


class NewPasswordForm(_SetPassword):
    """The new password; what somebody else changes of the account at that moment is not written over."""

    def save(self, commit: bool = True) -> User:  # noqa: FBT001, FBT002
        """Keep the password, and whose mailbox it came by."""
        user: User = super().save(commit=False)
        if commit:
            user.save(update_fields=["password", "proven_email"])
        return user


class SetPage(_OurPage, views.PasswordResetConfirmView):
    """Takes the new password; the link ends with it, and so does every session."""

    form_class = NewPasswordForm
    template_name = "people/reset_set.html"
    success_url = reverse_lazy("password_reset_complete")
    user: User | None

    def form_valid(self, form: Any) -> HttpResponseBase:  # type: ignore[override]
        """Keep the password, and forgive what was guessed before: the mailbox was shown to be theirs."""
        user: User = form.user
        user.proven_email = user.email
        answer = super().form_valid(form)
        User.objects.filter(pk=user.pk).update(guesses_until=None)
        reset(username=user.get_username())
        _note(self.request, user)
        return answer


class SetDonePage(_OurPage, views.PasswordResetCompleteView):
    """Says that it worked; a second factor is still asked for when signing in."""

    template_name = "people/reset_complete.html"


def _note(request: HttpRequest, user: User) -> None:
    change = Change("person.password_reset", "person", str(user.pk), {}, {})
    for organization_id in roles_by_organization(user):
        with organization_context(organization_id):
            note(organization_id, change, by=Actor.person(user), at=at_of(request))
