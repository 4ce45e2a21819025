"""What may be written into an answer, and what is asked before it goes live."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from golden.content import LONGEST_PARAPHRASE, LONGEST_QUESTION, Content
from golden.keeping import LONGEST_INTERVAL_DAYS
from golden.models import LONGEST_ANSWER
from knowledge.gates_form import AUTO, GatesForm, moment
from tenants.admin_forms import RowsField
from tenants.models import Membership, User


class ContentForm(GatesForm):
    """A draft: words, for whom, and when."""

    gates = ("agent", "segment", "channel", "jurisdiction")

    question = forms.CharField(
        label=_("Question"),
        max_length=LONGEST_QUESTION,
        widget=forms.TextInput(AUTO),
    )
    paraphrases = forms.CharField(
        label=_("Paraphrases"),
        required=False,
        help_text=_("One a line: how callers ask the same, in any language."),
        widget=forms.Textarea({**AUTO, "rows": 6}),
    )
    answer = forms.CharField(
        label=_("Answer"),
        help_text=format_lazy(
            _("Spoken whole, as it stands: at most {most} characters."), most=LONGEST_ANSWER
        ),
        widget=forms.Textarea({**AUTO, "rows": 8}),
    )
    folder = forms.CharField(
        label=_("Folder"),
        required=False,
        max_length=700,
        help_text=_("A path below the golden answers: cards/voyager."),
        widget=forms.TextInput(AUTO),
    )
    agent_restricted = forms.BooleanField(label=_("Only for these agents"), required=False)
    agents = RowsField(label=_("Agents"))
    lock_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        """Refuse a paraphrase that is too long, too."""
        told = super().clean()
        if any(len(line) > LONGEST_PARAPHRASE for line in _lines(told.get("paraphrases", ""))):
            self.add_error("paraphrases", _("One of them is too long."))
        return told

    def content(self) -> Content:
        """Return what was written."""
        told = {name: self.cleaned_data[name] for name in self.fields if name != "lock_version"}
        told["paraphrases"] = _lines(told["paraphrases"])
        frozen: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in told.items()
        }
        return Content(**frozen)

    @property
    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return the fields in the groups of the page."""
        words = ["question", "paraphrases", "answer", "language", "folder"]
        return [(_("What is said"), [self[name] for name in words]), *self.who_and_when()]


def written(content: Content) -> dict[str, Any]:
    """Return a content as a form begins with it."""
    return content.columns() | {"paraphrases": "\n".join(content.paraphrases)}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


class ConfirmForm(forms.Form):
    """Why, and which state of the answer the decision is about."""

    reason = forms.CharField(
        label=_("Reason"), required=False, max_length=2_000,
        widget=forms.Textarea({**AUTO, "rows": 3}),
    )  # fmt: skip
    lock_version = forms.IntegerField(widget=forms.HiddenInput)
    # What the page of checks showed, signed; it goes into the audit entry.
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, needs_reason: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = needs_reason


class ScheduleForm(ConfirmForm):
    """From when until when the answer holds."""

    valid_from = moment(_("Valid from"))
    valid_until = moment(_("Valid until"))
    field_order = ("valid_from", "valid_until", "reason", "lock_version", "seen")


class CareForm(ConfirmForm):
    """Who looks after it, and how often."""

    owner = forms.ModelChoiceField(User.objects.none(), label=_("Owner"), required=False)
    review_days = forms.IntegerField(
        label=_("Review interval in days"), min_value=1, max_value=LONGEST_INTERVAL_DAYS
    )
    field_order = ("owner", "review_days", "reason", "lock_version", "seen")

    def __init__(self, organization_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        members = Membership.objects.filter(organization_id=organization_id).values("user_id")
        owner = self.fields["owner"]
        assert isinstance(owner, forms.ModelChoiceField)
        owner.queryset = User.objects.filter(pk__in=members).order_by("username")
