"""What is wrong with a catalogue: what it lacks, what it says otherwise, what was not compiled."""

from __future__ import annotations

import gettext
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from babel.messages.catalog import Catalog, Message

from config.catalogue.files import LANGUAGES, catalogue_of, forms_of, read_file
from config.catalogue.sources import Said, everything_said, untranslated_templates

_PLACES: Final = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")
_NAMED: Final = re.compile(r"%\(\w+\)|\{\w+")
# Arabic says none, one and two without the number.
_WORDED_FORMS: Final = 3


def complaints() -> list[str]:
    """Return everything that is wrong, a line each; empty when every page can be read."""
    said = everything_said()
    found = [
        f"{path}: no translate tag covers {text!r}"
        for path, texts in untranslated_templates()
        for text in texts
    ]
    for language in LANGUAGES:
        catalogue = catalogue_of(language)
        lines = (*wrong_in(catalogue, said), *_stale(language, catalogue))
        found += [f"{language}: {line}" for line in lines]
    return found


def wrong_in(catalogue: Catalog, said: Said) -> Iterator[str]:
    """Return what a catalogue lacks of what is said, and what it says with other values."""
    yield from _missing(catalogue, said)
    yield from _misplaced(catalogue)


def _missing(catalogue: Catalog, said: Said) -> Iterator[str]:
    for found, places in sorted(said.items(), key=lambda pair: pair[0].one):
        known = catalogue.get(found.one, found.context)
        where = f"{found.one!r} ({', '.join(sorted(places))})"
        if known is None or known.pluralizable != (found.many is not None):
            yield f"not in the catalogue: {where}"
        elif not all(forms_of(known)):
            yield f"not translated: {where}"
        elif known.fuzzy:
            yield f"marked fuzzy: {where}"


def _misplaced(catalogue: Catalog) -> Iterator[str]:
    for message in catalogue:
        if message.id and all(forms_of(message)) and not _keeps_places(message):
            yield f"other places of values: {_texts(message)[0]!r}"


def _keeps_places(message: Message) -> bool:
    wanted = _places(_texts(message)[-1])
    forms = forms_of(message)
    return all(
        _places(form) == wanted
        or (message.pluralizable and nth < _WORDED_FORMS and _drops_a_number(form, wanted))
        for nth, form in enumerate(forms)
    )


def _drops_a_number(form: str, wanted: Counter[str]) -> bool:
    return _places(form) <= wanted and all(_NAMED.match(place) for place in wanted)


def _places(text: str) -> Counter[str]:
    return Counter(_PLACES.findall(text.replace("%%", "")))


def _stale(language: str, catalogue: Catalog) -> Iterator[str]:
    with read_file(language).open("rb") as file:
        compiled = dict(gettext.GNUTranslations(file)._catalog)  # type: ignore[attr-defined]
    for message in catalogue:
        if message.id and not message.fuzzy and any(forms_of(message)):
            one = _texts(message)[0]
            one = f"{message.context}\x04{one}" if message.context else one
            for nth, form in enumerate(forms_of(message)):
                if compiled.get((one, nth) if message.pluralizable else one) != form:
                    yield f"not compiled: {one!r}"
                    break


def _texts(message: Message) -> tuple[str, ...]:
    return (message.id,) if isinstance(message.id, str) else tuple(message.id)
