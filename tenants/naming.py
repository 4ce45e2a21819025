"""The names of apps, models, fields and choices in the reader's language.

Django takes most of them from identifiers, in English. Marking each field would repeat its name; here all
of them become lazy at once, before any form is made of them. A migration does not see it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.apps import AppConfig
from django.db.models import Field, Model
from django.utils.translation import gettext_lazy


def name_lazily(apps: Iterable[AppConfig]) -> None:
    """Let every plain name of these apps be looked up when it is shown."""
    for app in apps:
        app.verbose_name = _lazy(app.verbose_name)
        for model in app.get_models():
            _name_model(model)


def _name_model(model: type[Model]) -> None:
    options = model._meta
    options.verbose_name_plural = _lazy(str(options.verbose_name_plural))
    options.verbose_name = _lazy(options.verbose_name)
    for field in options.get_fields():
        if isinstance(field, Field):
            _name_field(field)


def _name_field(field: Field[Any, Any]) -> None:
    field.verbose_name = _lazy(field.verbose_name)
    field.help_text = _lazy(field.help_text)
    if field.choices:
        field.choices = [(value, _lazy(label)) for value, label in field.flatchoices]


def _lazy(text: Any) -> Any:
    return gettext_lazy(text) if isinstance(text, str) and text else text
