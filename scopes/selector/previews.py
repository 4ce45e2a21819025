"""The part "What changes": what saving would do to the last logged questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from knowledge.embedding.selection import current_embedder
from knowledge.models import Category
from knowledge.retrieval.deadline import Deadline
from scopes.errors import DeltaRefused
from scopes.previewing import Difference, Preview, preview
from scopes.selecting import Picks, explicit_picks
from scopes.selector import words
from scopes.selector.deltas import Delta, keys_of, picks_of, read_delta
from scopes.selector.rooms import Visit, part, visit
from tenants.admin_site import own_transaction

# Sooner than the page gives up waiting.
DEADLINE_S: Final = 8.0


@dataclass(frozen=True)
class PreviewView:
    """A preview in sentences."""

    summary: str
    notes: list[str]
    differences: list[Difference]


@own_transaction
@require_POST
def preview_part(request: HttpRequest, object_id: str) -> HttpResponse:
    """Show what the unsaved changes of both roots would do."""
    seen = visit(request, object_id)
    try:
        deltas = {
            name: read_delta(request.POST.get(f"delta.{name}", "")) for name in Category.values
        }
        view = preview_view(seen, deltas)
    except DeltaRefused as refusal:
        return HttpResponse(_(str(refusal)), status=400, content_type="text/plain")
    return part(seen, "scopes/preview.html", {"preview": view})


def preview_view(seen: Visit, deltas: Mapping[str, Delta]) -> PreviewView:
    """Return the preview of changes.

    Raises: DeltaRefused
    """
    if not any(deltas.values()):
        return PreviewView(_("Nothing is changed, so every question is answered as now."), [], [])
    picks = _picks(seen, deltas)
    found = preview(
        seen.agent,
        picks,
        embedder=current_embedder(),
        deadline=Deadline.after(DEADLINE_S),
        at=seen.at,
    )
    return PreviewView(_summary(found), _notes(found), found.differences)


def _picks(seen: Visit, deltas: Mapping[str, Delta]) -> dict[str, Picks]:
    with seen.context():
        return {
            name: picks_of(delta.applied(keys_of(explicit_picks(seen.agent, name))), name)
            for name, delta in deltas.items()
            if delta
        }


def _summary(found: Preview) -> str:
    if not found.asked:
        return _("This agent has not been asked anything yet, so there is nothing to compare.")
    text = ngettext(
        "{different} of the last {n} question would be answered differently.",
        "{different} of the last {n} questions would be answered differently.",
        found.asked,
    )
    return text.format(different=words.number(len(found.differences)), n=words.number(found.asked))


def _notes(found: Preview) -> list[str]:
    notes = []
    if found.skipped:
        skipped = ngettext(
            "{n} more question was not compared: the time was over.",
            "{n} more questions were not compared: the time was over.",
            found.skipped,
        )
        notes.append(skipped.format(n=words.number(found.skipped)))
    if found.golden_outside:
        notes.append(golden_warning(found.golden_outside))
    return notes


def golden_warning(count: int) -> str:
    """Return the warning that golden answers lie outside the scope."""
    text = ngettext(
        "{n} published golden answer is outside this selection and will not be served.",
        "{n} published golden answers are outside this selection and will not be served.",
        count,
    )
    return text.format(n=words.number(count))
