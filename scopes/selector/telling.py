"""Sentences about a save, and what a conflict shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from scopes.selector import words
from scopes.selector.deltas import Delta
from scopes.selector.saving import Saved
from scopes.selector.state import RootState


@dataclass(frozen=True)
class Conflict:
    """Somebody saved meanwhile: who, when, and what each way out leads to.

    Shape: `mine` is empty when the changes cannot be applied to theirs; `outcome` says why.
    """

    version: int
    heading: str
    who: str
    mine: str
    theirs: str
    outcome: str


def told_saved(category: str, delta: Delta, saved: Saved) -> str:
    """Return the sentence after a save."""
    if not delta:
        return _("There is nothing to save.")
    text = _("{root} saved. Searches follow it from now on.").format(root=words.ROOTS[category])
    if saved.left_out:
        gone = ngettext(
            "{n} of what you selected is no longer there and was left out.",
            "{n} of what you selected are no longer there and were left out.",
            saved.left_out,
        )
        text = f"{text} {gone.format(n=words.number(saved.left_out))}"
    return text


class Hindrance(Enum):
    """Why changes cannot be applied to what somebody else saved."""

    LEAVES_NOTHING = "leaves nothing"
    FOLDERS_MOVED = "folders moved"


def conflict_of(state: RootState, hindrance: Hindrance | None) -> Conflict:
    """Return what a conflict shows; `state` is theirs with my changes on top."""
    return Conflict(
        version=state.version,
        heading=_("{root} was changed meanwhile").format(root=words.ROOTS[state.category]),
        who=_who(state),
        mine="" if hindrance else _mine(state),
        theirs=_("Discard mine and load theirs"),
        outcome=_hindered(hindrance) if hindrance else _outcome(state),
    )


def _mine(state: RootState) -> str:
    changes = len(state.delta.add) + len(state.delta.remove) + int(state.delta.clear)
    mine = ngettext(
        "Apply my changes to theirs ({n} change)",
        "Apply my changes to theirs ({n} changes)",
        changes,
    )
    return mine.format(n=words.number(changes))


def _who(state: RootState) -> str:
    when = date_format(state.changed_at, "SHORT_DATETIME_FORMAT") if state.changed_at else ""
    who = state.changed_by or _("a process")
    return _("{who} saved at {when} (UTC). Nothing of yours is lost.").format(who=who, when=when)


def _hindered(hindrance: Hindrance) -> str:
    if hindrance is Hindrance.FOLDERS_MOVED:
        return _(
            "Folders were moved or renamed after you opened this page, so that yours may name others"
            " now. Load theirs, and select them anew."
        )
    return _(
        "Theirs and yours together leave nothing selected, which would make everything"
        " searchable. Load theirs, or clear the selection."
    )


def _outcome(state: RootState) -> str:
    if state.delta.clear and not state.delta.add:
        return _("Applying yours makes everything searchable.")
    if not state.is_restricted and state.delta.add:
        return _("Theirs makes everything searchable; applying yours restricts again.")
    return ""
