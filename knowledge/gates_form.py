"""What forms ask about a text, who may hear it, and when; the same for instructions and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django import forms
from django.contrib.postgres.forms import SimpleArrayField
from django.utils.translation import gettext_lazy as _

from knowledge.models import Item
from knowledge.text.normalising import clean
from tenants.admin_forms import InstantInput, RowsField
from tenants.models import PhoneAgent, Segment

# With their labels in the reader's language.
_VISIBILITIES: Final[Any] = Item._meta.get_field("visibility").choices
_LISTED: Final = _("Tick the box above too, or the list would restrict nothing.")
_ROWS: Final = {"agents": PhoneAgent, "segments": Segment}
AUTO: Final = {"dir": "auto"}


class StoredText(forms.CharField):
    """A text as it is stored: a browser's line ends, by themselves, are no change of it."""

    def to_python(self, value: Any) -> str:
        """Return it without what nobody sees."""
        return clean(super().to_python(value) or "")


def moment(label: Any) -> forms.DateTimeField:
    """Return a field for an instant, or for none."""
    return forms.DateTimeField(
        label=label, required=False, widget=InstantInput, help_text=_("UTC; empty for no limit.")
    )


class GatesForm(forms.Form):
    """For whom, and when; a form that has more gates names them."""

    gates: ClassVar[tuple[str, ...]] = ("segment", "channel", "jurisdiction")

    language = forms.RegexField(
        r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
        label=_("Language"),
        required=False,
        max_length=16,
        help_text=_("A tag like en or ar; a label, not a limit."),
    )
    visibility = forms.ChoiceField(label=_("Visibility"), choices=_VISIBILITIES)
    segment_restricted = forms.BooleanField(label=_("Only for these segments"), required=False)
    segments = RowsField(label=_("Segments"))
    channel_restricted = forms.BooleanField(label=_("Only on these channels"), required=False)
    channels = SimpleArrayField(
        forms.CharField(max_length=32), label=_("Channels"), required=False,
        help_text=_("phone, whatsapp, …"),
    )  # fmt: skip
    jurisdiction_restricted = forms.BooleanField(
        label=_("Only for these countries"), required=False
    )
    jurisdictions = SimpleArrayField(
        forms.RegexField(r"^[A-Za-z]{2}$"), label=_("Countries"), required=False,
        help_text=_("Country codes: AE, GB, …"),
    )  # fmt: skip
    valid_from = moment(_("Valid from"))
    valid_until = moment(_("Valid until"))

    def __init__(self, organization_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, model in _ROWS.items():
            field = self.fields.get(name)
            if isinstance(field, RowsField):
                field.offer(model._default_manager.filter(organization_id=organization_id))
                field.keep((self.initial or {}).get(name, ()))

    def clean(self) -> dict[str, Any]:
        """Refuse a list that would restrict nothing."""
        told = super().clean() or {}
        for gate in self.gates:
            if told.get(f"{gate}s") and not told.get(f"{gate}_restricted"):
                self.add_error(f"{gate}s", forms.ValidationError(_LISTED))
        return told

    def refuse(self, fields: Mapping[str, str]) -> None:
        """Show what the verb refused beside the fields."""
        for name, reason in fields.items():
            self.add_error(name if name in self.fields else None, reason)

    def who_and_when(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return the groups of the page that all these forms have."""
        whom = [
            "visibility",
            *(n for gate in self.gates for n in (f"{gate}_restricted", f"{gate}s")),
        ]
        return [
            (_("Who may hear it"), [self[name] for name in whom]),
            (_("When"), [self["valid_from"], self["valid_until"]]),
        ]
