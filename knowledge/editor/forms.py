"""What may be written into an instruction, and where it is filed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from knowledge.api.shapes import LONGEST_BODY
from knowledge.editor.wording import Wording
from knowledge.gates_form import AUTO, GatesForm, StoredText
from knowledge.indexing.writing import Gates, Limit
from knowledge.models import InstructionDirectory


class WordingForm(GatesForm):
    """A draft: words, for whom, and when."""

    title = forms.CharField(label=_("Title"), max_length=400, widget=forms.TextInput(AUTO))
    body = StoredText(
        label=_("Text"),
        max_length=LONGEST_BODY,
        strip=False,
        help_text=_("Markdown. Headings and lists help the agent to find the right step."),
        widget=forms.Textarea({**AUTO, "rows": 20}),
    )
    seen = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)

    def wording(self) -> Wording:
        """Return what was written."""
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
        return Wording(told["title"], told["body"], told["language"], gates)

    @property
    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return the fields in the groups of the page."""
        words = [self[name] for name in ("title", "body", "language")]
        return [(_("What it says"), words), *self.who_and_when()]


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
        widget=forms.TextInput(AUTO),
    )
    seen = forms.CharField(required=False, max_length=300, strip=False, widget=forms.HiddenInput)
