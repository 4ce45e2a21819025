"""Decisions about one instruction, each on a page of its own that says what will change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.api.names import Names
from knowledge.editor import drafting, placing, publishing
from knowledge.editor.asking import (
    FILES,
    PUBLISHES,
    WRITES,
    find_instruction,
    hand_of,
    in_own_organizations,
    require,
    shown,
)
from knowledge.editor.forms import DecisionForm, PlaceForm
from knowledge.editor.holding import Hand, Held, held
from knowledge.editor.reading import about
from knowledge.editor.telling import audience, compared, segment_names
from knowledge.editor.wording import Wording, wording_of
from knowledge.models import Instruction
from tenants.admin_site import own_transaction
from tenants.errors import EarmarkError


@dataclass(frozen=True)
class Decision:
    """One decision: who may take it, when it applies, what it says before and after."""

    label: Any
    roles: frozenset[str]
    applies: Callable[[Held], bool]
    consequence: Any
    done: Any


DECISIONS: Final = {
    "publish": Decision(
        gettext_lazy("Publish"), PUBLISHES,
        lambda it: it.row.deleted_at is None and (it.draft is not None or not it.is_served),
        gettext_lazy("From the next search on, callers hear the new text."),
        gettext_lazy("Live. Searches hear it from the next one on."),
    ),
    "discard": Decision(
        gettext_lazy("Throw the draft away"), WRITES,
        lambda it: it.row.deleted_at is None and it.draft is not None,
        gettext_lazy("Nothing changes for callers. The draft cannot be brought back."),
        gettext_lazy("The draft is gone; what is live stayed."),
    ),
    "take-back": Decision(
        gettext_lazy("Take back"), PUBLISHES, lambda it: it.is_served,
        gettext_lazy("From the next search on, no caller hears it. Text and versions stay."),
        gettext_lazy("Taken back. No caller hears it any more."),
    ),
    "use-version": Decision(
        gettext_lazy("Make it the draft"), WRITES, lambda it: it.row.deleted_at is None,
        gettext_lazy("Nothing changes for callers until the draft is published. A draft that is there is replaced."),
        gettext_lazy("The earlier text is the draft now."),
    ),
    "delete": Decision(
        gettext_lazy("Delete"), FILES, lambda it: it.row.deleted_at is None,
        gettext_lazy("From the next search on, no caller hears it. It can be restored for 30 days; agents keep it selected."),
        gettext_lazy("Deleted. You can restore it below."),
    ),
    "restore": Decision(
        gettext_lazy("Restore"), FILES, lambda it: it.row.deleted_at is not None,
        gettext_lazy("It stands as it stood: if it was live, callers hear it from the next search on."),
        gettext_lazy("Restored."),
    ),
}  # fmt: skip


@own_transaction
def decide(request: HttpRequest, instruction_id: UUID, name: str) -> HttpResponse:
    """Ask about a decision, and carry it out; what has changed since the question is asked again."""
    decision = DECISIONS.get(name)
    if decision is None:
        raise Http404
    with in_own_organizations(request):
        row = find_instruction(request, instruction_id)
        require(request, decision.roles, row.organization_id)
        form = DecisionForm(request.POST or None)
        if not decision.applies(held(row)):
            return _over(request, row)
        if not form.is_valid():
            return _ask(request, row, name)
    try:
        _carry_out(name, row, hand_of(request), form.cleaned_data["seen"], _number(request))
    except EarmarkError as refusal:
        with in_own_organizations(request):
            again = find_instruction(request, instruction_id)
            return _ask(request, again, name, refusal=_(str(refusal)))
    messages.success(request, decision.done)
    return redirect("admin:instruction_show", row.pk)


def _carry_out(name: str, row: Instruction, hand: Hand, seen: str, number: int) -> None:
    organization_id, pk = row.organization_id, row.pk
    doing: dict[str, Callable[[], object]] = {
        "publish": lambda: publishing.publish(organization_id, pk, hand, seen=seen),
        "discard": lambda: drafting.discard_draft(organization_id, pk, hand, seen=seen),
        "take-back": lambda: publishing.take_back(organization_id, pk, hand, seen=seen),
        "use-version": lambda: drafting.draft_from_version(
            organization_id, pk, number, hand, seen=seen
        ),
        "delete": lambda: publishing.delete(organization_id, pk, hand),
        "restore": lambda: publishing.bring_back(organization_id, pk, hand),
    }
    doing[name]()


def _number(request: HttpRequest) -> int:
    text = request.GET.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _over(request: HttpRequest, row: Instruction) -> HttpResponse:
    messages.warning(request, _("Nothing was done: it has changed meanwhile."))
    return redirect("admin:instruction_show", row.pk)


def _ask(request: HttpRequest, row: Instruction, name: str, *, refusal: str = "") -> HttpResponse:
    it, names, decision = held(row), segment_names(row.organization_id), DECISIONS[name]
    left, right = _sides(request, it, name)
    context = {
        **about(row),
        "decision": decision,
        "form": DecisionForm(initial={"seen": it.seen_whole}),
        "refusal": refusal,
        "differences": compared(left, right, names),
        "audience": audience(right, names) if name == "publish" and right else [],
        "is_outdated": it.draft is not None and it.draft.base_digest != wording_of(row).digest,
    }
    title = f"{decision.label}: {it.newest.title}"
    status = 409 if refusal else 200
    return shown(request, "confirm.html", title, context, status=status)


def _sides(request: HttpRequest, it: Held, name: str) -> tuple[Wording | None, Wording | None]:
    """Return what stands now and what will stand afterwards."""
    if name == "use-version":
        version = it.row.versions.filter(number=_number(request)).first()
        if version is None:
            raise Http404
        return it.newest, wording_of(version)
    sides = {
        "publish": (it.live, it.newest),
        "discard": (it.newest, it.live),
        "restore": (None, wording_of(it.row)),
    }
    return sides.get(name, (it.newest, None))


@own_transaction
def move(request: HttpRequest, instruction_id: UUID) -> HttpResponse:
    """Ask where an instruction is to lie, and file it there."""
    with in_own_organizations(request):
        row = find_instruction(request, instruction_id)
        require(request, FILES, row.organization_id)
        paths = paths_of(row.organization_id)
        initial = {"place": str(row.directory_id or "")}
        form = PlaceForm(paths, request.POST or None, initial=initial)
        if request.method != "POST" or not form.is_valid():
            context = {**about(row), "form": form, "seen": placing.seen_filing(row)}
            return shown(request, "move.html", _("Move: %s") % row.title, context)
    chosen = form.cleaned_data["place"]
    place, seen = UUID(chosen) if chosen else None, request.POST.get("seen", "")
    try:
        placing.move_instruction(row.organization_id, row.pk, place, hand_of(request), seen=seen)
    except EarmarkError as refusal:
        messages.error(request, _(str(refusal)))
    else:
        messages.success(request, _("Moved. Searches follow from the next one on."))
    return redirect("admin:instruction_show", row.pk)


def paths_of(organization_id: int) -> list[tuple[Any, str]]:
    """Return every live directory with its path, by path.

    Cost: two statements.
    """
    names = Names(organization_id)
    live = placing.live_directories(organization_id)
    return sorted(((pk, names.directories[pk]) for pk in live), key=lambda one: one[1])
