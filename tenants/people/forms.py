"""What is asked about people: whom to invite, which roles, a name and a password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib.auth.forms import SetPasswordMixin
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext_lazy as _

from tenants.models import Role, User

if TYPE_CHECKING:
    _SetPassword = SetPasswordMixin[User]
else:
    _SetPassword = SetPasswordMixin

# What a role may do, for those who give it.
MEANING: Final = {
    Role.VIEWER: _("Viewer: sees everything of the organization and searches as its agents."),
    Role.EDITOR: _("Editor: writes and files items, and drafts instructions."),
    Role.AUTHOR: _("Author: drafts golden answers and instructions."),
    Role.APPROVER: _("Approver: approves what authors ask to publish."),
    Role.PUBLISHER: _("Publisher: publishes instructions and, in urgent cases, golden answers."),
    Role.ADMIN: _("Administrator: all of it, and agents, keys, people and settings."),
}
_CHOICES: Final = [(role.value, MEANING[role]) for role in Role]


class InviteForm(forms.Form):
    """Whom to invite, to which role."""

    email = forms.EmailField(
        label=_("E-mail"), max_length=254, widget=forms.EmailInput({"autocomplete": "off"})
    )
    role = forms.ChoiceField(label=_("Role"), choices=_CHOICES, widget=forms.RadioSelect)


class RolesForm(forms.Form):
    """The roles of a member, and those that the page showed; a box for giving up one's own administration."""

    roles = forms.MultipleChoiceField(
        label=_("Roles"),
        choices=_CHOICES,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Give at least one role, or remove the person below.")},
    )
    seen = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)
    confirmed = forms.BooleanField(
        label=_("Yes, I give up administering this organization myself."), required=False
    )

    def __init__(self, *args: Any, is_oneself: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not is_oneself:
            del self.fields["confirmed"]


class NewPersonForm(_SetPassword, forms.Form):
    """The name and the password of a new person."""

    username = forms.CharField(
        label=_("Name to sign in with"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput(
            {"autocomplete": "username", "autocapitalize": "none", "dir": "auto"}
        ),
    )
    password1, password2 = SetPasswordMixin.create_password_fields()

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def clean_username(self) -> str:
        """Refuse a name that is taken, in whatever case."""
        name: str = User.normalize_username(self.cleaned_data["username"])
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(_("Somebody has this name already; choose another one."))
        return name

    def clean(self) -> dict[str, Any] | None:
        """Hold the password to the rules, with what is known of the person."""
        self.validate_passwords()
        person = User(username=self.cleaned_data.get("username", ""), email=self.email)
        self.validate_password_for_user(person)
        return super().clean()
