"""What may be asked on the page, within the limits of the voice door."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from search.as_agent import USUAL_CHANNEL, USUAL_LIMIT, Call, contact_of
from tenants.models import PhoneAgent

MOST_QUERIES: Final = 4
LONGEST_QUERY: Final = 500
_QUERIES: Final = tuple(f"q{number}" for number in range(1, MOST_QUERIES + 1))


def _query(number: int) -> forms.CharField:
    label = _("Query") if number == 1 else _("The same asked otherwise")
    attrs = {"dir": "auto", "size": "60", "autocomplete": "off"}
    return forms.CharField(
        label=label, required=False, max_length=LONGEST_QUERY, widget=forms.TextInput(attrs)
    )


class AsAgentForm(forms.Form):
    """One to four queries and the call in which they are asked; or a row to ask about."""

    q1 = _query(1)
    q2 = _query(2)
    q3 = _query(3)
    q4 = _query(4)
    contact = forms.CharField(
        label=_("Contact"),
        required=False,
        max_length=200,
        help_text=_("External id; empty: unknown."),
    )
    channel = forms.RegexField(
        r"^[a-z0-9_-]{1,32}\Z", label=_("Channel"), initial=USUAL_CHANNEL, required=False
    )
    country = forms.RegexField(
        r"^[A-Za-z]{2}\Z",
        label=_("Country"),
        required=False,
        help_text=_("Two letters; empty: unknown."),
    )
    at = forms.DateTimeField(
        label=_("At"),
        required=False,
        widget=forms.DateTimeInput({"type": "datetime-local"}),
        help_text=_("UTC; empty: now."),
    )
    limit = forms.IntegerField(
        label=_("Results"), initial=USUAL_LIMIT, required=False, min_value=1, max_value=10
    )
    why = forms.CharField(
        label=_("Why is this among them, or not?"),
        required=False,
        max_length=400,
        help_text=_("A title, words, or an id of an instruction or item."),
        widget=forms.TextInput({"dir": "auto", "size": "60", "autocomplete": "off"}),
    )

    def __init__(self, agent: PhoneAgent, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent = agent

    def clean_contact(self) -> Any:
        """Return the contact; an unknown one is told, because a misspelt one would mislead."""
        external_id = self.cleaned_data["contact"].strip()
        found = contact_of(self.agent, external_id) if external_id else None
        if external_id and found is None:
            raise forms.ValidationError(_("There is no contact with this id."))
        return found

    def clean(self) -> dict[str, Any]:
        """Ask for something to look for."""
        told = super().clean() or {}
        if not self.errors and not self.queries and not told.get("why"):
            raise forms.ValidationError(_("Ask something, or name what you ask about."))
        return told

    @property
    def queries(self) -> tuple[str, ...]:
        """Return what was asked, without empty boxes."""
        asked = (self.cleaned_data.get(name, "").strip() for name in _QUERIES)
        return tuple(text for text in asked if text)

    def call(self, now: datetime) -> Call:
        """Return the call that is imagined."""
        told = self.cleaned_data
        country = told["country"].upper() or None
        return Call(told["contact"], told["channel"] or USUAL_CHANNEL, country, told["at"] or now)

    @property
    def query_fields(self) -> list[forms.BoundField]:
        """Return the boxes of the queries."""
        return [self[name] for name in _QUERIES]

    @property
    def call_fields(self) -> list[forms.BoundField]:
        """Return the boxes of the call."""
        return [self[name] for name in ("contact", "channel", "country", "at", "limit")]
