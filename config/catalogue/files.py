"""The files of a catalogue: the one that people write (.po) and the one that is read (.mo)."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import escape, read_po, write_po

from config.catalogue.sources import Said
from config.private import ROOT

LANGUAGES: Final = ("ar",)
# The files say the same whenever they are written.
_WHEN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_HEADER: Final = (
    "Project-Id-Version: Earmark",
    "Language: {language}",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=UTF-8",
    "Content-Transfer-Encoding: 8bit",
    "Plural-Forms: {plural_forms}",
)


def written_file(language: str) -> Path:
    """Return where the translations of a language are written."""
    return ROOT / "locale" / language / "LC_MESSAGES/django.po"


def read_file(language: str) -> Path:
    """Return what Django reads."""
    return written_file(language).with_suffix(".mo")


def catalogue_of(language: str) -> Catalog:
    """Return the translations of a language as they are written."""
    with written_file(language).open("rb") as file:
        catalogue = read_po(file, locale=language)
    catalogue.creation_date = catalogue.revision_date = _WHEN
    return catalogue


def follow(catalogue: Catalog, said: Said) -> Catalog:
    """Return a catalogue of what is said now: with the old translations, without what is not said."""
    kept = Catalog(locale=catalogue.locale, header_comment=catalogue.header_comment)
    kept.mime_headers = catalogue.mime_headers
    kept.creation_date = kept.revision_date = _WHEN
    for found in sorted(said, key=lambda one: (one.one, one.context or "")):
        old = catalogue.get(found.one, found.context)
        kept.add(
            found.one if found.many is None else (found.one, found.many),
            _kept(old, catalogue.num_plurals, counted=found.many is not None),
            locations=[(place, None) for place in sorted(said[found])],  # type: ignore[misc]
            user_comments=old.user_comments if old else (),
            flags=old.flags & {"fuzzy"} if old else (),
            context=found.context,
        )
    return kept


def _kept(old: Message | None, forms: int, *, counted: bool) -> str | tuple[str, ...]:
    known = forms_of(old) if old else ("",)
    if not counted:
        return known[-1]
    return known if len(known) == forms else known[:1] * forms


def forms_of(message: Message) -> tuple[str, ...]:
    """Return what a sentence is translated to: one text, or one for each plural."""
    text = message.string or ""
    return (text,) if isinstance(text, str) else tuple(text)


def write(language: str, catalogue: Catalog) -> None:
    """Write both files of a language."""
    body = BytesIO()
    write_po(body, catalogue, width=0, omit_header=True, include_lineno=False)
    head = [*catalogue.header_comment.splitlines(), 'msgid ""', 'msgstr ""']
    told = {"language": language, "plural_forms": catalogue.plural_forms}
    head += [escape(f"{line.format(**told)}\n") for line in _HEADER]
    text = "\n".join(head) + "\n\n" + body.getvalue().decode().strip() + "\n"
    written_file(language).write_text(text, encoding="utf-8")
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    read_file(language).write_bytes(compiled.getvalue())
