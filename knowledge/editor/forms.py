"""What may be written into an instruction, and where it is filed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django import forms
from django.contrib.postgres.forms import SimpleArrayField
from django.utils.translation import gettext_lazy as _

from knowledge.api.shapes import LONGEST_BODY
from knowledge.editor.wording import Wording
from knowledge.indexing.writing import Gates, Limit
from knowledge.models import Instruction, InstructionDirectory
from tenants.admin_forms import InstantInput, RowsField
from tenants.models import Segment

# With their labels in the reader's language.
_VISIBILITIES: Final[Any] = Instruction._meta.get_field("visibility").choices
_AUTO: Final = {"dir": "auto"}
_LISTED: Final = _("Tick the box above too, or the list would restrict nothing.")
_GATES: Final = ("segment", "channel", "jurisdiction")


def _moment(label: Any) -> forms.DateTimeField:
    return forms.DateTimeField(
        label=label, required=False, widget=InstantInput, help_text=_("UTC; empty for no limit.")
    )


class WordingForm(forms.Form):
    """A draft: words, for whom, and when."""

    title = forms.CharField(label=_("Title"), max_length=400, widget=forms.TextInput(_AUTO))
    body = forms.CharField(
        label=_("Text"),
        max_length=LONGEST_BODY,
        strip=False,
        help_text=_("Markdown. Headings and lists help the agent to find the right step."),
        widget=forms.Textarea({**_AUTO, "rows": 20}),
    )
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
    valid_from = _moment(_("Valid from"))
    valid_until = _moment(_("Valid until"))
    seen = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)

    def __init__(self, organization_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["segments"]
        assert isinstance(field, RowsField)
        field.offer(Segment.objects.filter(organization_id=organization_id))
        field.keep((self.initial or {}).get("segments", ()))

    def clean(self) -> dict[str, Any]:
        """Refuse a list that would restrict nothing."""
        told = super().clean() or {}
        for gate in _GATES:
            if told.get(f"{gate}s") and not told.get(f"{gate}_restricted"):
                self.add_error(f"{gate}s", forms.ValidationError(_LISTED))
        return told

    def wording(self) -> Wording:
        """Return what was written; a browser's line ends become ours."""
        told = self.cleaned_data
        gates = Gates(
            visibility=told["visibility"],
            channels=_limit(told, "channel", sorted(set(told["channels"]))),
            segments=_limit(told, "segment", sorted(told["segments"], key=str)),
            jurisdictions=_limit(
                told, "jurisdiction", sorted({code.upper() for code in told["jurisdictions"]})
            ),
            valid_from=told["valid_from"],
            valid_until=told["valid_until"],
        )
        body = told["body"].replace("\r\n", "\n")
        return Wording(told["title"], body, told["language"], gates)

    def refuse(self, fields: Mapping[str, str]) -> None:
        """Show what the verb refused beside the fields."""
        for name, reason in fields.items():
            self.add_error(name if name in self.fields else None, reason)

    @property
    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return the fields in the groups of the page."""
        whom = ["visibility", *(n for gate in _GATES for n in (f"{gate}_restricted", f"{gate}s"))]
        return [
            (_("What it says"), [self[name] for name in ("title", "body", "language")]),
            (_("Who may hear it"), [self[name] for name in whom]),
            (_("When"), [self["valid_from"], self["valid_until"]]),
        ]


def _limit(told: dict[str, Any], gate: str, values: list[Any]) -> Limit:
    return Limit(bool(told[f"{gate}_restricted"]), tuple(values))


class DecisionForm(forms.Form):
    """Which state of the text a decision is about."""

    seen = forms.CharField(max_length=300, widget=forms.HiddenInput)


class PlaceForm(forms.Form):
    """A directory to file something in; empty is the top."""

    place = forms.ChoiceField(label=_("Directory"), required=False)

    def __init__(self, paths: Iterable[tuple[Any, str]], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        top = [("", _("The top: in no directory"))]
        place = self.fields["place"]
        assert isinstance(place, forms.ChoiceField)
        place.choices = [*top, *((str(pk), path) for pk, path in paths)]


class DirectoryForm(forms.Form):
    """The name of a directory, and how it was when the page was shown."""

    name = forms.CharField(
        label=_("Name"),
        max_length=InstructionDirectory._meta.get_field("name").max_length,
        widget=forms.TextInput(_AUTO),
    )
    seen = forms.CharField(required=False, max_length=300, strip=False, widget=forms.HiddenInput)
