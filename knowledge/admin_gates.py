"""Gates in forms: each restriction is a box of its own, so that an empty list can mean nobody."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from django import forms
from django.contrib.postgres.forms import SimpleArrayField
from django.utils.translation import gettext_lazy as _

from tenants.admin_forms import RowsField, TenantForm
from tenants.models import PhoneAgent, Segment

GATES: Final = {
    "channel": "channels",
    "segment": "segments",
    "jurisdiction": "jurisdictions",
    "agent": "agents",
}
_LISTED: Final = _("Tick the box above too, or the list would restrict nothing.")
FIELDSETS: Final = (
    (
        _("Who may hear it"),
        {
            "description": _(
                "A ticked box with an empty list means nobody. All conditions must hold."
            ),
            "fields": (
                "visibility",
                ("channel_restricted", "channels"),
                ("segment_restricted", "segments"),
                ("jurisdiction_restricted", "jurisdictions"),
            ),
        },
    ),
    (_("When"), {"fields": ("valid_from", "valid_until")}),
)


class GatedForm(TenantForm):
    """A truth row with its gates."""

    channels = SimpleArrayField(
        forms.CharField(max_length=32), label=_("Channels"), required=False,
        help_text=_("phone, whatsapp, …"),
    )  # fmt: skip
    jurisdictions = SimpleArrayField(
        forms.RegexField(r"^[A-Za-z]{2}$", strip=True),
        label=_("Countries"),
        required=False,
        help_text=_("Country codes: AE, GB, …"),
    )
    segments = RowsField(label=_("Segments"))
    agents = RowsField(label=_("Agents"))

    labels: ClassVar[dict[str, Any]] = {
        "channel_restricted": _("Only on these channels"),
        "segment_restricted": _("Only for these segments"),
        "jurisdiction_restricted": _("Only for these countries"),
        "agent_restricted": _("Only for these agents"),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in self.labels.items():
            if name in self.fields:
                self.fields[name].label = label
        self._offer("segments", Segment)
        self._offer("agents", PhoneAgent)

    def _offer(self, name: str, model: type[Segment | PhoneAgent]) -> None:
        field = self.fields.get(name)
        if not isinstance(field, RowsField):
            return
        rows = model._default_manager.select_related("organization")
        if self.instance._state.adding:
            field.offer(rows, lambda row: f"{row.organization}: {row}")
        else:
            field.offer(rows.filter(organization_id=self.instance.organization_id))
            field.keep(getattr(self.instance, name))

    def clean_jurisdictions(self) -> list[str]:
        """Return country codes as they are compared."""
        return sorted({code.upper() for code in self.cleaned_data["jurisdictions"]})

    def clean(self) -> dict[str, Any]:
        """Refuse a list that would restrict nothing, and a foreign row."""
        told = super().clean() or {}
        for gate, column in GATES.items():
            if told.get(column) and not told.get(f"{gate}_restricted"):
                self.add_error(column, forms.ValidationError(_LISTED))
        self._refuse_foreign("segments", Segment)
        self._refuse_foreign("agents", PhoneAgent)
        return told

    def _refuse_foreign(self, name: str, model: type[Segment | PhoneAgent]) -> None:
        organization = self.cleaned_data.get("organization")
        wanted = self.cleaned_data.get(name)
        if organization is None or not wanted:
            return
        own = model._default_manager.filter(organization=organization, pk__in=wanted)
        if own.count() != len(wanted):
            self.add_error(name, forms.ValidationError(_("Belongs to another organization.")))
