"""What the buttons of the page do when it is sent as a form, without a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from django.http import Http404
from django.utils.translation import gettext as _

from knowledge.models import Category
from scopes.errors import ScopeChangedMeanwhile, SelectionGone
from scopes.selector.deltas import Delta
from scopes.selector.rooms import Visit
from scopes.selector.saving import Onto, save
from scopes.selector.sheet import Sheet, number_in
from scopes.selector.telling import told_saved

_LONGEST_NUMBER: Final = 9
CHANGING: Final = frozenset({"save", "merge"})


@dataclass
class Pressed:
    """The sheets after a button, and what to say about each root."""

    sheets: dict[str, Sheet]
    told: dict[str, str] = field(default_factory=dict)
    alerts: dict[str, str] = field(default_factory=dict)
    conflicts: set[str] = field(default_factory=set)
    preview: bool = False


def press(visit: Visit, sheets: dict[str, Sheet], action: str) -> Pressed:
    """Do what a button says: `verb`, `verb:category` or `verb:category:rest`."""
    pressed = Pressed(dict(sheets))
    verb, _colon, rest = action.partition(":")
    if verb in {"refresh", ""}:
        return pressed
    if verb == "preview":
        pressed.preview = True
        return pressed
    category, _colon, rest = rest.partition(":")
    if category not in Category.values:
        raise Http404
    if verb in CHANGING:
        _save(visit, pressed, category, rest)
    else:
        pressed.sheets[category] = _turned(sheets[category], verb, rest)
    return pressed


def _turned(sheet: Sheet, verb: str, rest: str) -> Sheet:
    turn = _TURNS.get(verb)
    if turn is None:
        raise Http404
    return turn(sheet, rest)


def _paged(sheet: Sheet, rest: str) -> Sheet:
    cursor, _colon, place = rest.partition(":")
    return sheet.opening(place, cursor)


def _reviewed(sheet: Sheet, rest: str) -> Sheet:
    offset = int(rest) if rest.isdigit() and len(rest) < _LONGEST_NUMBER else 0
    return replace(sheet, review=offset, query="")


def _dropped(sheet: Sheet, _rest: str) -> Sheet:
    return replace(sheet, delta=Delta(), version=None)


_TURNS: Final[dict[str, Callable[[Sheet, str], Sheet]]] = {
    "open": lambda sheet, rest: sheet.opening(rest),
    "close": lambda sheet, rest: sheet.closing(rest),
    "page": _paged,
    "review": _reviewed,
    "tree": lambda sheet, _rest: replace(sheet, review=None, query=""),
    "find": lambda sheet, _rest: replace(sheet, review=None),
    "clear": lambda sheet, _rest: sheet.changed(Delta(clear=True)),
    "discard": _dropped,
    "theirs": _dropped,
}


def _save(visit: Visit, pressed: Pressed, category: str, version: str) -> None:
    sheet = pressed.sheets[category]
    over = number_in(version)
    onto = Onto((sheet.version if over is None else over) or 0, sheet.version)
    try:
        saved = save(
            visit.agent,
            category,
            sheet.delta,
            onto=onto,
            by=visit.actor,
            at=visit.at,
        )
    except ScopeChangedMeanwhile:
        pressed.conflicts.add(category)
    except SelectionGone:
        pressed.alerts[category] = _("Nothing of this selection is there any more.")
    else:
        pressed.told[category] = told_saved(category, sheet.delta, saved)
        pressed.sheets[category] = replace(sheet, delta=Delta(), version=None)
