"""The admin's own acts in the audit trail, instead of Django's separate log."""

from __future__ import annotations

import json
from typing import Any, Final

from django import forms
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.http import HttpRequest

from tenants.admin_authority import actor_of, at_of
from tenants.auditing import Change, note

_LONGEST: Final = 200


def changed_values(form: forms.BaseForm) -> dict[str, dict[str, Any]]:
    """Return what a form changed, before and after; long texts by their length only."""
    names = [name for name in form.changed_data if name in form.cleaned_data]
    return {
        "before": {
            name: _told(form.get_initial_for_field(form.fields[name], name)) for name in names
        },
        "after": {name: _told(form.cleaned_data[name]) for name in names},
    }


def _told(value: Any) -> Any:
    if isinstance(value, models.Model):
        return str(value.pk)
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{len(value)} characters"
    return json.loads(json.dumps(value, cls=DjangoJSONEncoder, default=str))


def note_act(
    request: HttpRequest,
    organization_id: int,
    subject: tuple[str, str],
    verb: str,
    values: dict[str, dict[str, Any]] | None = None,
) -> None:
    """Write down what the person behind a request did to a subject, named by type and id."""
    told = values or {}
    change = Change(f"{subject[0]}.{verb}", *subject, told.get("before", {}), told.get("after", {}))
    note(organization_id, change, by=actor_of(request), at=at_of(request))
