"""What may be written into an answer, and what is asked before it goes live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.contrib.postgres.forms import SimpleArrayField
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from golden.content import LONGEST_PARAPHRASE, LONGEST_QUESTION, Content
from golden.keeping import LONGEST_INTERVAL_DAYS
from golden.models import LONGEST_ANSWER
from knowledge.models import Item
from tenants.admin_forms import RowsField
from tenants.models import Membership, PhoneAgent, Segment, User

# With their labels in the reader's language.
_VISIBILITIES: Final[Any] = Item._meta.get_field("visibility").choices
_AUTO: Final = {"dir": "auto"}
_LISTED: Final = _("Tick the box above too, or the list would restrict nothing.")
GATES: Final = ("channel", "segment", "jurisdiction", "agent")


def _moment(label: Any) -> forms.DateTimeField:
    widget = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    return forms.DateTimeField(label=label, required=False, widget=widget, help_text=_("UTC."))


class ContentForm(forms.Form):
    """A draft: words, for whom, and when."""

    question = forms.CharField(
        label=_("Question"),
        max_length=LONGEST_QUESTION,
        widget=forms.TextInput(_AUTO),
    )
    paraphrases = forms.CharField(
        label=_("Paraphrases"),
        required=False,
        help_text=_("One a line: how callers ask the same, in any language."),
        widget=forms.Textarea({**_AUTO, "rows": 6}),
    )
    answer = forms.CharField(
        label=_("Answer"),
        help_text=format_lazy(
            _("Spoken whole, as it stands: at most {most} characters."), most=LONGEST_ANSWER
        ),
        widget=forms.Textarea({**_AUTO, "rows": 8}),
    )
    language = forms.RegexField(
        r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
        label=_("Language"),
        required=False,
        max_length=16,
        help_text=_("A tag like en or ar; a label, not a limit."),
    )
    folder = forms.CharField(
        label=_("Folder"),
        required=False,
        max_length=700,
        help_text=_("A path below the golden answers: cards/voyager."),
        widget=forms.TextInput(_AUTO),
    )
    visibility = forms.ChoiceField(label=_("Visibility"), choices=_VISIBILITIES)
    agent_restricted = forms.BooleanField(label=_("Only for these agents"), required=False)
    agents = RowsField(label=_("Agents"))
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
    lock_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, organization_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, model in (("agents", PhoneAgent), ("segments", Segment)):
            field = self.fields[name]
            assert isinstance(field, RowsField)
            field.offer(model._default_manager.filter(organization_id=organization_id))
            field.keep((self.initial or {}).get(name, ()))

    def clean(self) -> dict[str, Any]:
        """Refuse a list that would restrict nothing, and a paraphrase that is too long."""
        told = super().clean() or {}
        for gate in GATES:
            if told.get(f"{gate}s") and not told.get(f"{gate}_restricted"):
                self.add_error(f"{gate}s", forms.ValidationError(_LISTED))
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

    def refuse(self, fields: Mapping[str, str]) -> None:
        """Show what the verb refused beside the fields."""
        for name, reason in fields.items():
            self.add_error(name if name in self.fields else None, reason)

    @property
    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return the fields in the groups of the page."""
        words = ["question", "paraphrases", "answer", "language", "folder"]
        whom = ["visibility", *(name for gate in ("agent", "segment", "channel", "jurisdiction")
                                for name in (f"{gate}_restricted", f"{gate}s"))]  # fmt: skip
        return [
            (_("What is said"), [self[name] for name in words]),
            (_("Who may hear it"), [self[name] for name in whom]),
            (_("When"), [self["valid_from"], self["valid_until"]]),
        ]


def written(content: Content) -> dict[str, Any]:
    """Return a content as a form begins with it."""
    return content.columns() | {"paraphrases": "\n".join(content.paraphrases)}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


class ConfirmForm(forms.Form):
    """Why, and which state of the answer the decision is about."""

    reason = forms.CharField(
        label=_("Reason"), required=False, max_length=2_000,
        widget=forms.Textarea({**_AUTO, "rows": 3}),
    )  # fmt: skip
    lock_version = forms.IntegerField(widget=forms.HiddenInput)
    # What the page of checks showed, signed; it goes into the audit entry.
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, needs_reason: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = needs_reason


class ScheduleForm(ConfirmForm):
    """From when until when the answer holds."""

    valid_from = _moment(_("Valid from"))
    valid_until = _moment(_("Valid until"))
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
