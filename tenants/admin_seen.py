"""Nobody overwrites what they have not seen: a form tells what its page showed, and the row is locked first."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    _ModelForm = forms.ModelForm[Any]
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelForm = forms.ModelForm
    _ModelAdmin = admin.ModelAdmin

STALE: Final = _(
    "Somebody changed this after you opened it. Nothing was saved; what you typed is still here."
)
_WITHOUT_ORDER: Final = (forms.MultipleChoiceField, forms.ModelMultipleChoiceField)


class SeenForm(_ModelForm):
    """A form of a row; one that was opened before somebody else's change is refused."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:
            del self.fields["seen"]

    @cached_property
    def digest(self) -> str:
        """A hash of what the form would write over; the same exactly while nobody changes it."""
        told = {
            name: self._initial_value(name, field)
            for name, field in self.fields.items()
            if name != "seen" and not field.disabled
        }
        version = getattr(self.instance, "lock_version", None)
        text = json.dumps([self.instance.pk, version, told], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def _initial_value(self, name: str, field: forms.Field) -> Any:
        value = self.get_initial_for_field(field, name)
        return sorted(map(str, value or ())) if isinstance(field, _WITHOUT_ORDER) else value

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> Any:
        """Return what a field begins with."""
        if field_name == "seen":
            return self.digest
        return super().get_initial_for_field(field, field_name)

    def clean(self) -> dict[str, Any] | None:
        """Refuse to write over what was not seen."""
        told = super().clean()
        if "seen" in self.fields and self.cleaned_data.get("seen") != self.digest:
            self.add_error(None, forms.ValidationError(STALE, code="stale"))
        return told

    @property
    def is_stale(self) -> bool:
        """Whether it was refused because somebody else was first."""
        return self.has_error(NON_FIELD_ERRORS, "stale")


class SeenAdmin(_ModelAdmin):
    """Reads a row that is to be changed only once nobody else can change it."""

    change_form_template = "admin/change_form_seen.html"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Compare what was seen with what is there, and nothing comes between that and the writing."""
        self._hold(request, object_id)
        return super().change_view(request, object_id, form_url, extra_context)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Look at what stands against a deletion, and nothing comes between that and the deletion."""
        self._hold(request, object_id)
        return super().delete_view(request, object_id, extra_context)

    def _hold(self, request: HttpRequest, object_id: str) -> None:
        if request.method != "POST":
            return
        row = self.get_object(request, unquote(object_id))
        if self.has_change_permission(request, row) or self.has_delete_permission(request, row):
            self.lock(row)

    def lock(self, row: Any) -> None:
        """Let everybody else wait with a row until the transaction ends; one that is gone is read no more."""
        rows = self.model._default_manager.select_for_update(of=("self",), no_key=True)
        rows.only("pk").filter(pk=row.pk).first()
