"""Reasons that a process wrote down in English, told in the language of whoever reads them."""

from __future__ import annotations

import re
from functools import cache
from re import Pattern
from typing import Final

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

FORMS: Final = (
    _('"id" holds a character that cannot be stored.'), _('"id" is a text that is not empty.'),
    _('"id" is longer than {n} characters.'), _('"lang" is a language code such as en or pt-BR.'),
    _('"metadata" holds something that JSON cannot store.'), _('"metadata" is an object.'),
    _('"metadata" is too large or holds a NUL.'), _('"start" lies below "prefix".'),
    _('"url" is a web address that starts with http:// or https://.'), _('"url" is no web address.'),
    _('"valid_from" is not before "valid_until".'), _('"visibility" is "public" or "internal".'),
    _('"sitemap" is a web address, or false to follow links instead.'),
    _('"start" is a web address.'), _('"prefix" is a web address.'),
    _('Under "urls" are web addresses.'), _('Say under "urls" 1 to {n} web addresses.'),
    _('Say under "path" which folder or file it is.'),
    _('"{key}" holds a character that cannot be stored.'), _('"{key}" is a list of texts.'),
    _('"{key}" is a text.'), _('"{key}" is empty: write null for no restriction, or leave the key out.'),
    _("A channel is a lower-case name, such as phone."),
    _("A directory's name is longer than {n} characters."), _("A folder name holds a control character."),
    _("A folder name is longer than {n} characters."), _("A folder path never goes up."),
    _("A jurisdiction is a country code of two letters, such as DE."),
    _("A source has one name, without a separator."), _("A source of this kind is not told {name}."),
    _("A source's name is letters, digits and dashes, in lower case."), _("A table has more than {n} cells."),
    _('A time is written as "2026-01-31" or "2026-01-31T09:00:00Z".'),
    _("A vector is not made of finite numbers, or is zero."), _("A vector is not made of finite numbers."),
    _("A vector of the answer is not a list of numbers."),
    _("An index of the answer belongs to no text, or to one twice."), _("Choose 1 to {n} files."),
    _("Files lie inside each other more than {n} deep."), _("Files of this kind hold no text."),
    _("Golden answers and corrections are written by staff, not imported."), _("Indexing it ended the process each time."),
    _("It answers {status}."), _("It cannot be indexed: {kind}."), _("It did not answer: {kind}."),
    _("It failed: {kind}."), _("It holds more than {n} entries."),
    _("It holds no text; if it is scanned, run text recognition on it first."),
    _("It is JSON, and no export of a help desk that we know."), _("It is an archive, and no office file."),
    _("It is larger than {n} MiB."), _("It is named like text and holds {what}."), _("It is no JSON."),
    _('"prefix" has nothing behind ? or #.'), _("It leads to {address}, which is not part of this source."),
    _("It is no PDF."), _("It is no message."), _("It is {what}, not a page."), _("It redirects too often."),
    _("It says it is {encoding} and is damaged."), _("It took longer than {n} s."),
    _("It unpacks to more than {n} MiB."), _("Its address, or where it leads, cannot be read."),
    _("A quote in the row of line {n} is not closed."), _("It is damaged UTF-8."),
    _("It is one page of an export that says there are more."),
    _("The row has more cells than the first one."),
    _("Its front matter is not YAML."), _("Its rows cannot be told apart."),
    _("Its text is longer than {n} characters."), _("Lines of JSON are written in UTF-8."),
    _("Missing keys: {names}"), _("No page was found."),
    _("No reader knows .{kind}: save it as PDF, DOCX or Markdown."), _("The answer has {found} vectors for {n} texts."),
    _("The answer holds no vectors."), _("The answer holds no vectors ({code})."), _("The answer is not JSON."),
    _("The article has no title or no text."), _("The database said {kind}."), _("The folder path is too long."),
    _("The line is longer than {n} MiB."), _("The number of vectors differs from the number of texts."),
    _("The path is not below {own}/ in a folder of EARMARK_SOURCE_FOLDERS."),
    _("The provider failed too often just now."), _("The provider refuses one text after the other."),
    _("The reader could not make sense of it ({kind})."), _("The row has no question."),
    _("The sitemap answers {status}."), _("The sitemap cannot be read."), _("The system refused it: {what}."),
    _("The vectors are not of the space that is searched."),
    _("The vectors have {found} dimensions, the space has {wanted}."),
    _("The vectors of one answer differ in length."), _("There is no Git checkout at that path."),
    _("There is no folder at that path."), _("There is no file at that path."), _("There is no {what} at that path."),
    _("There is no host {name}."), _('There is no segment "{name}".'), _("Unknown keys: {names}"),
    _("What is gone stays, as somebody said."), _("robots.txt answers {status}."), _("{name} is larger than {n} MiB."),
    _("{gone} of {filed} would be deleted as gone, more than {most}: nothing was deleted. "
      "Say --prune-anyway if that is meant."),
    _("A folder has one name, without a separator; a source keeps its own."),
    _("A folder cannot lie inside itself, and a source stays where it is."), _("A source stays where it is."),
    _("a PDF"), _("an archive or office file"), _("an image"), _("an old office file"), _("a program"),
    _("compressed data"), _("an archive"), _("a database"), _("of no kind"),
)  # fmt: skip
_PLACE: Final = re.compile(r"\{(\w+)\}")


def told(reason: str) -> str:
    """Return a reason in the reader's language; one that nobody foresaw stays as it was written."""
    if not reason:
        return ""
    known = gettext(reason)
    return known if known != reason else _filled_in(reason)


def _filled_in(reason: str) -> str:
    for form, pattern in _patterns():
        if found := pattern.fullmatch(reason):
            values = {name: gettext(value) for name, value in found.groupdict().items()}
            return gettext(form).format(**values)
    return reason


@cache
def _patterns() -> list[tuple[str, Pattern[str]]]:
    """Return the forms with places, those that leave least open first."""
    open_forms = sorted(filter(_PLACE.search, FORMS), key=lambda form: -len(_PLACE.sub("", form)))
    return [(form, re.compile(_expression(form), re.DOTALL)) for form in open_forms]


def _expression(form: str) -> str:
    parts = _PLACE.split(form)
    return "".join(
        f"(?P<{part}>.+)" if place % 2 else re.escape(part) for place, part in enumerate(parts)
    )
