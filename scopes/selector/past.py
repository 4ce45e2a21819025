"""The page "History" of a scope: who changed it, when and to what, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from knowledge.places import Entry
from scopes.errors import ScopeChangedMeanwhile, SelectionGone
from scopes.models import AgentScope
from scopes.retaking import (
    PastSelection,
    changes_of,
    past_selection,
    restore_selection,
    turn_of,
)
from scopes.selecting import Picks
from scopes.selector import words
from scopes.selector.deltas import keys_of
from scopes.selector.flat import named
from scopes.selector.picked import tree_of
from scopes.selector.rooms import Visit, visit
from scopes.selector.sheet import number_in
from tenants.admin_site import our_site, own_transaction
from tenants.models import AuditEntry

MOST_SHOWN: Final = 100


@dataclass(frozen=True)
class ChangeLine:
    """One change in words."""

    id: UUID
    at: Any
    who: str
    root: str
    before: str
    after: str
    version: int | None


@own_transaction
@require_GET
def history_page(request: HttpRequest, object_id: str) -> HttpResponse:
    """Show the newest changes of an agent's scope."""
    seen = visit(request, object_id)
    with seen.context():
        versions = versions_of(seen)
        lines = [_line(entry, versions) for entry in changes_of(seen.agent, most=MOST_SHOWN)]
        context = {
            **our_site().each_context(request),
            "title": _("Scope history of {agent}").format(agent=seen.agent.name),
            "agent": seen.agent,
            "lines": lines,
            "may_change": seen.may_change,
        }
        return render(request, "scopes/history.html", context)


@own_transaction
@require_GET
def change_page(request: HttpRequest, object_id: str, entry: UUID) -> HttpResponse:
    """Show by name what one change added and took away."""
    seen = visit(request, object_id)
    with seen.context():
        found = turn_of(seen.agent, entry)
        if found is None:
            raise Http404
        change, turn = found
        context = {
            **our_site().each_context(request),
            "title": _("What was changed"),
            "agent": seen.agent,
            "change": change,
            "root": words.ROOTS[turn.category],
            "added": _named(seen, turn.category, turn.added),
            "removed": _named(seen, turn.category, turn.removed),
        }
        return render(request, "scopes/change.html", context)


def _named(seen: Visit, category: str, picks: Picks) -> tuple[list[Entry], int]:
    tree = tree_of(category, seen.agent.organization_id)
    found = named(tree, category, keys_of(picks), 0)
    return found.entries, max(0, len(picks.rows) + len(picks.containers) - len(found.entries))


def versions_of(seen: Visit) -> dict[str, int]:
    """Return the present version of each category."""
    scopes = AgentScope.objects.filter(organization_id=seen.agent.organization_id, agent=seen.agent)
    return dict(scopes.values_list("category", "version"))


def _line(entry: AuditEntry, versions: dict[str, int]) -> ChangeLine:
    told: Any = entry
    return ChangeLine(
        id=entry.pk,
        at=entry.at,
        who=entry.actor_label,
        root=str(words.ROOTS.get(told.category, told.category)),
        before=_counted(told.count_before),
        after=_counted(told.count_after),
        version=versions.get(told.category),
    )


def _counted(count: int) -> str:
    return words.selected(count) if count else _("All searchable")


@own_transaction
@require_POST
def restore(request: HttpRequest, object_id: str) -> HttpResponse:
    """Make a past selection the present one, as a new change."""
    seen = visit(request, object_id)
    if not seen.may_change:
        raise PermissionDenied
    past = _past(seen, request.POST.get("entry", ""))
    version = number_in(request.POST.get("version", ""))
    try:
        left_out = restore_selection(
            seen.agent,
            past,
            version=version or 0,
            by=seen.actor,
            at=seen.at,
        )
    except ScopeChangedMeanwhile:
        messages.error(request, _("Somebody changed the scope after you opened this page."))
    except SelectionGone:
        messages.error(request, gone())
    else:
        messages.success(request, restored(past.category, left_out))
    return HttpResponseRedirect(
        reverse("admin:tenants_phoneagent_scope_history", args=[seen.agent.pk])
    )


def _past(seen: Visit, entry: str) -> PastSelection:
    try:
        with seen.context():
            past = past_selection(seen.agent, UUID(entry))
    except ValueError:
        raise Http404 from None
    if past is None:
        raise Http404
    return past


def gone() -> str:
    """Return why a selection cannot be taken over."""
    return _("Nothing of that selection is there any more. Taking it over would open everything.")


def restored(category: str, left_out: int) -> str:
    """Return the sentence after a selection was taken over."""
    text = _("{root} follows that selection from now on.").format(root=words.ROOTS[category])
    if left_out:
        more = ngettext(
            "{n} of it is no longer there and was left out.",
            "{n} of it are no longer there and were left out.",
            left_out,
        )
        text = f"{text} {more.format(n=words.number(left_out))}"
    return text
