"""Every sentence that a person may see, with the files that say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import cleandoc, getsourcefile
from pathlib import Path
from typing import Any, Final

from babel.messages.extract import extract_from_file
from django.apps import AppConfig, apps
from django.contrib import admin
from django.db.models import Field, Model
from django.utils.functional import Promise
from django.utils.translation import override

from config.catalogue import templates
from config.catalogue.borrowed import GUIDANCE
from config.catalogue.templates import Sentence
from config.private import ROOT
from tenants.errors import EarmarkError
from tenants.refusals import RequestRefused

Said = dict[Sentence, set[str]]
_HAS_CODE: Final = re.compile(r'^    code(: \w+(\[\w+\])?)? = "', re.MULTILINE)
PACKAGES: Final = ("config", "tenants", "knowledge", "scopes", "golden", "search", "voiceapi")
_KEYWORDS: Final[dict[str, Any]] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}


def everything_said() -> Said:
    """Return all sentences: of templates, code, models and refusals."""
    said: Said = {}
    # Names are lazy; without a language they say what is to be translated.
    with override(None):
        for place, found in _every_sentence():
            if found.one.strip():
                said.setdefault(found, set()).add(place)
    return _without_singles(said)


def _every_sentence() -> Iterator[tuple[str, Sentence]]:
    for found in (_of_templates, _of_code, _of_guidance, _of_models, _of_refusals):
        yield from found()


def template_files() -> list[Path]:
    """Return our templates."""
    return sorted(path for path in (ROOT / "templates").rglob("*.*") if path.is_file())


def our_apps() -> list[AppConfig]:
    """Return the apps whose names people see."""
    return [app for app in apps.get_app_configs() if app.name in PACKAGES]


def our_models() -> list[type[Model]]:
    """Return the models of our apps."""
    return [model for app in our_apps() for model in app.get_models()]


def _of_templates() -> Iterator[tuple[str, Sentence]]:
    for path in template_files():
        for sentence in templates.sentences(path):
            yield _place(path), sentence


def _of_code() -> Iterator[tuple[str, Sentence]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for _line, found, _comments, context in extract_from_file(
                "python", str(path), keywords=_KEYWORDS
            ):
                texts = found if isinstance(found, tuple) else (found,)
                many = texts[1] if len(texts) > 1 else None
                yield _place(path), Sentence(texts[0], many, context)


def _of_guidance() -> Iterator[tuple[str, Sentence]]:
    for text in GUIDANCE:
        yield "knowledge/retrieval", Sentence(text)


def _of_models() -> Iterator[tuple[str, Sentence]]:
    for app in our_apps():
        yield _place(ROOT / app.path / "apps.py"), Sentence(str(app.verbose_name))
    for model in our_models():
        for text in names_of(model):
            yield _place(getsourcefile(model)), Sentence(str(text))


def names_of(model: type[Model]) -> Iterator[Any]:
    """Return what its choices say, and the names of a model that has pages of its own."""
    has_pages = admin.site.is_registered(model)
    if has_pages:
        yield from (model._meta.verbose_name, model._meta.verbose_name_plural)
    for field in model._meta.get_fields():
        # What has a lazy name is named in code, ours or Django's.
        if isinstance(field, Field) and not isinstance(
            getattr(field, "_verbose_name", None), Promise
        ):
            yield from (field.verbose_name, field.help_text) if has_pages else ()
            yield from (label for _value, label in field.flatchoices)


def _of_refusals() -> Iterator[tuple[str, Sentence]]:
    for package in PACKAGES:
        _load_refusals(package)
    for refusal in _below(EarmarkError):
        if _reaches_a_page(refusal):
            sentence = Sentence(cleandoc(refusal.__doc__ or "").strip())
            yield _place(getsourcefile(refusal)), sentence


def _reaches_a_page(refusal: type[EarmarkError]) -> bool:
    # The wires speak English.
    rooms = refusal.__module__.split(".")
    is_wire = issubclass(refusal, RequestRefused) or "api" in rooms or "voiceapi" in rooms
    return rooms[0] in PACKAGES and not is_wire


def _load_refusals(package: str) -> None:
    # A refusal is known once its module is loaded, and what ran before must not decide which are.
    for path in sorted((ROOT / package).rglob("*.py")):
        if _HAS_CODE.search(path.read_text("utf-8")):
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def _below(parent: type[EarmarkError]) -> Iterator[type[EarmarkError]]:
    yield parent
    for child in parent.__subclasses__():
        yield from _below(child)


def _place(path: Any) -> str:
    return Path(path).resolve().relative_to(ROOT).as_posix()


def _without_singles(said: Said) -> Said:
    """Let a sentence that is also counted somewhere stand once, with its plural."""
    counted = {(found.one, found.context): found for found in said if found.many is not None}
    kept: Said = {}
    for found, places in said.items():
        kept.setdefault(counted.get((found.one, found.context), found), set()).update(places)
    return kept


def untranslated_templates() -> Iterable[tuple[str, list[str]]]:
    """Return the templates with English outside their translate tags."""
    for path in template_files():
        found = templates.untranslated(path)
        if found:
            yield _place(path), found
