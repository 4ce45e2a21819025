"""What the selector says; the page and its script take every sentence and number from here."""

from __future__ import annotations

from typing import Any, Final

from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from knowledge.models import Category

# One number for each plural category, by which the script picks a form.
_SAMPLES: Final = {"zero": 0, "one": 1, "two": 2, "few": 3, "many": 11, "other": 100}
ROOTS: Final[dict[str, Any]] = {
    Category.INSTRUCTION: gettext_lazy("Instructions"),
    Category.KNOWLEDGE: gettext_lazy("Knowledge"),
}
STATES: Final[dict[str, Any]] = {
    "": "",
    "gone": gettext_lazy("No longer there"),
    "empty": gettext_lazy("Nothing in it now"),
    "draft": gettext_lazy("Draft, not searched until it is published"),
    "unapproved": gettext_lazy("Not searched until it is approved"),
    "unread": gettext_lazy("Not searched: its text could not be read"),
    "never": gettext_lazy("A conversation, never searched by voice"),
}


def number(count: int) -> str:
    """Return a number with its thousands apart; the script does the same."""
    return str(number_format(count, force_grouping=True))


def selected(count: int) -> str:
    """Return how many are selected."""
    return ngettext("{n} selected", "{n} selected", count).format(n=number(count))


def inside(count: int) -> str:
    """Return how many are selected inside a folder."""
    return ngettext("{n} selected inside", "{n} selected inside", count).format(n=number(count))


def unsaved(count: int) -> str:
    """Return how many changes are not saved."""
    return ngettext("{n} unsaved change", "{n} unsaved changes", count).format(n=number(count))


def held(count: int, *, more: bool) -> str:
    """Return what a folder is and holds."""
    if more:
        return _("Folder, more than {n} inside").format(n=number(count))
    return ngettext("Folder, {n} inside", "Folder, {n} inside", count).format(n=number(count))


def included(name: str) -> SafeString:
    """Return which selected folder includes a row."""
    return format_html(_("Included by folder {name}"), name=format_html("<bdi>{}</bdi>", name))


def span(first: int | None, end: int, rows: int, *, more: bool) -> str:
    """Return which lines of a folder are shown."""
    if first is None:
        return _("The last {n}").format(n=number(end))
    text = _("{first} to {end}; it holds more than {rows}") if more else _("{first} to {end}")
    return text.format(first=number(first), end=number(end), rows=number(rows))


def entries(count: int) -> str:
    """Return how many lines there are."""
    return ngettext("{n} entry", "{n} entries", count).format(n=number(count))


def explanation() -> str:
    """Return what restricting means."""
    return _(
        "The agent searches only what you select. A folder includes everything in it now and"
        " anything added later."
    )


def script_words() -> dict[str, Any]:
    """Return the sentences that the script says."""
    return {
        "all": _("All searchable"),
        "restricted": _("Restricted"),
        "vacant": _("Restricted, nothing left to search"),
        "explanation": explanation(),
        "included": _("Included by folder {name}"),
        "added": _("Unsaved: added"),
        "removed": _("Unsaved: removed"),
        "loading": _("Loading …"),
        "saving": _("Saving …"),
        "again": _("Try again"),
        "notLoaded": _("This could not be loaded. Your selection is kept."),
        "notSaved": _("{root} could not be saved. Your changes are kept on this page; try again."),
        "signedOut": _(
            "You are no longer signed in. Your selection is kept. Sign in again in another tab,"
            " then try again."
        ),
        "forbidden": _("You may no longer change this. Your selection is kept on this page."),
        "tooLarge": _("The selection is too large to be sent. Select folders instead."),
        "nothing": _("There is nothing to save."),
        "discarded": _("Your changes were discarded."),
        "cleared": _("Cleared. Save to make everything searchable."),
        "selected": _plural("{n} selected", "{n} selected"),
        "inside": _plural("{n} selected inside", "{n} selected inside"),
        "unsaved": _plural("{n} unsaved change", "{n} unsaved changes"),
        "applyMine": _plural(
            "Apply my changes to theirs ({n} change)", "Apply my changes to theirs ({n} changes)"
        ),
    }


def _plural(one: str, many: str) -> dict[str, str]:
    return {name: ngettext(one, many, sample) for name, sample in _SAMPLES.items()}
