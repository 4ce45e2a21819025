"""Forms of tenant rows: constraints that name the organization hold, and texts run in their own direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _

from tenants.admin_seen import SeenForm


class InstantInput(forms.DateTimeInput):
    """One native box for a date and a time; two boxes would share one label."""

    def __init__(self) -> None:
        super().__init__({"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S")


class RowSelect(AutocompleteSelect):
    """A box that finds one row; what was sent and is no id of a row is not looked for."""

    def optgroups(self, name: str, value: Any, attr: Any = None) -> Any:
        """Return the row that is chosen."""
        key = self.field.remote_field.model._meta.pk
        return super().optgroups(name, [one for one in value if _is_key(key, one)], attr)


def _is_key(key: models.Field[Any, Any], text: Any) -> bool:
    try:
        key.to_python(text)
    except ValidationError:
        return False
    return True


class TenantForm(SeenForm):
    """A form that checks what is unique within the organization, although that field is fixed."""

    def _get_validation_exclusions(self) -> set[str]:
        return super()._get_validation_exclusions() - {"organization"}  # type: ignore[misc,no-any-return]


class RowsField(forms.TypedMultipleChoiceField):
    """Several rows of the organization, kept as a list of their ids."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(coerce=UUID, required=False, **kwargs)
        self.offered: dict[str, str] = {}

    def offer(self, rows: Iterable[models.Model], label: Callable[[Any], str] = str) -> None:
        """Offer these rows."""
        self.offered = {str(row.pk): label(row) for row in rows}
        self.choices = list(self.offered.items())

    def keep(self, ids: Iterable[UUID]) -> None:
        """Offer ids whose rows are not there, so that saving does not drop them unseen."""
        gone = [one for one in map(str, ids) if one not in self.offered]
        self.offered |= {one: _("No longer there: %s") % one for one in gone}
        self.choices = list(self.offered.items())

    def prepare_value(self, value: Any) -> Any:
        """Return ids as the boxes carry them."""
        return [str(one) for one in value] if isinstance(value, list | tuple | set) else value


def own_direction(field: forms.Field | None, db_field: models.Field[Any, Any]) -> None:
    """Let a text that people write run in its own direction."""
    texts = (models.CharField, models.TextField)
    if field is not None and isinstance(db_field, texts) and not db_field.choices:
        field.widget.attrs.setdefault("dir", "auto")
