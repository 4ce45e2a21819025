"""Service keys in the admin: issued with the secret shown once, revoked, never changed."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tenants.admin_actions import Button, ButtonAdmin
from tenants.admin_authority import actor_of, at_of, authority_of, organizations_seen
from tenants.admin_forms import InstantInput
from tenants.errors import EarmarkError
from tenants.keys import KeySlotsTaken, issue_key, organizations_of_key, revoke_key
from tenants.models import Organization, Role, ServiceKeyBinding


class KeySharedElsewhere(EarmarkError):
    """This key also speaks for other organizations; an operator has to revoke it."""

    code = "key_shared_elsewhere"


class IssueKeyForm(forms.Form):
    """For whom a key speaks, and until when."""

    organization = forms.ModelChoiceField(
        Organization.objects.none(), label=_("Organization"), empty_label=None
    )
    label = forms.CharField(label=_("Label"), max_length=200, help_text=_("Where it will be used."))
    expires_at = forms.DateTimeField(
        label=_("Expires at"),
        required=False,
        widget=InstantInput,
        help_text=_("UTC; empty for no end."),
    )

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(*args)
        organization = self.fields["organization"]
        assert isinstance(organization, forms.ModelChoiceField)
        mine = [one.pk for one in organizations_seen(request, Role.ADMIN)]
        organization.queryset = Organization.objects.filter(pk__in=mine)


def _instant(at: datetime | None) -> str:
    return date_format(at, "DATETIME_FORMAT") if at else "-"


@admin.register(ServiceKeyBinding)
class ServiceKeyAdmin(ButtonAdmin):
    """The keys of an organization; a binding's key is what people call the key."""

    subject = "service_key"
    view_role = Role.ADMIN
    change_role = None
    delete_role = None
    list_display = ("label", "kid", "slot", "state", "expires", "created")
    list_select_related = ("key",)
    ordering = ("-is_active", "slot", "id")
    fields: ClassVar[Any] = (
        "organization",
        "label",
        "kid",
        "slot",
        "state",
        "created",
        "expires",
        "revoked",
    )
    readonly_fields = ("label", "kid", "state", "created", "expires", "revoked")
    buttons: ClassVar = (
        Button("revoke", _("Revoke this key"), Role.ADMIN, lambda binding: binding.is_active),
    )

    @admin.display(description=_("label"))
    def label(self, binding: ServiceKeyBinding) -> str:
        """Return where the key is used."""
        return str(binding.key)

    @admin.display(description=_("key id"))
    def kid(self, binding: ServiceKeyBinding) -> str:
        """Return the key's public half."""
        return binding.key.kid

    @admin.display(description=_("state"))
    def state(self, binding: ServiceKeyBinding) -> str:
        """Return whether it still works, in a word."""
        if binding.key.revoked_at is not None:
            return gettext("Revoked")
        return gettext("Active") if binding.is_active else gettext("Ended")

    @admin.display(description=_("created"))
    def created(self, binding: ServiceKeyBinding) -> str:
        """Return when it was issued."""
        return date_format(binding.key.created_at, "DATETIME_FORMAT")

    @admin.display(description=_("expires"))
    def expires(self, binding: ServiceKeyBinding) -> str:
        """Return when it ends by itself."""
        return _instant(binding.key.expires_at)

    @admin.display(description=_("revoked"))
    def revoked(self, binding: ServiceKeyBinding) -> str:
        """Return when it was ended."""
        return _instant(binding.key.revoked_at)

    def revoke(self, request: HttpRequest, binding: ServiceKeyBinding) -> str:
        """End the key from the next request on.

        Raises: KeySharedElsewhere
        """
        authority = authority_of(request)
        for organization in organizations_of_key(binding.key):
            if not authority.has(Role.ADMIN, organization.pk):
                raise KeySharedElsewhere
        revoke_key(binding.key, by=actor_of(request), at=at_of(request))
        return gettext("The key %s is revoked.") % binding.key.kid

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Issue a key; the answer shows its secret, and nothing can show it again."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = IssueKeyForm(request, *([request.POST] if request.method == "POST" else []))
        token = self._issue(request, form) if form.is_valid() else None
        context = {
            **self.admin_site.each_context(request),
            "title": _("Issue a service key"),
            "opts": self.opts,
            "form": form,
            "token": token,
        }
        return TemplateResponse(request, "admin/tenants/issue_key.html", context)

    def _issue(self, request: HttpRequest, form: IssueKeyForm) -> str | None:
        told = form.cleaned_data
        try:
            return issue_key(
                [told["organization"]],
                label=told["label"],
                by=actor_of(request),
                at=at_of(request),
                expires_at=told["expires_at"],
            ).token
        except KeySlotsTaken as refusal:
            form.add_error(None, gettext(str(refusal)))
            return None
