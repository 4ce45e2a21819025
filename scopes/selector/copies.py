"""The page "Copy from another agent": both categories or one, as new changes."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from knowledge.models import Category
from scopes.errors import ScopeChangedMeanwhile, SelectionGone
from scopes.retaking import restore_selection, selection_of
from scopes.selector import words
from scopes.selector.past import gone, restored
from scopes.selector.rooms import Visit, visit
from scopes.selector.sheet import number_in
from scopes.selector.state import RootState, root_states
from tenants.admin_site import our_site, own_transaction
from tenants.models import PhoneAgent


@dataclass(frozen=True)
class Choice:
    """One category as both agents have it."""

    category: str
    label: str
    ours: str
    theirs: str
    version: int
    their_version: int


@own_transaction
@require_http_methods(["GET", "POST"])
def copy_page(request: HttpRequest, object_id: str) -> HttpResponse:
    """Choose an agent, see what its scope would replace, take it over."""
    seen = visit(request, object_id)
    if not seen.may_change:
        raise PermissionDenied
    named = request.GET.get("from") or request.POST.get("from", "")
    with seen.context():
        others = PhoneAgent.objects.filter(organization_id=seen.agent.organization_id)
        agents = {str(one.pk): one for one in others.exclude(pk=seen.agent.pk)}
    other = agents.get(named)
    if named and other is None:
        raise Http404
    if request.method == "POST" and other is not None:
        return _copied(seen, other)
    with seen.context():
        context = {
            **our_site().each_context(request),
            "title": _("Copy a scope to {agent}").format(agent=seen.agent.name),
            "agent": seen.agent,
            "agents": agents.values(),
            "other": other,
            "choices": _choices(seen, other) if other else [],
        }
        return render(request, "scopes/copy.html", context)


def _choices(seen: Visit, other: PhoneAgent) -> list[Choice]:
    ours, theirs = (root_states(agent, seen.at, {}) for agent in (seen.agent, other))
    return [
        Choice(
            name,
            str(words.ROOTS[name]),
            _told(ours[name]),
            _told(theirs[name]),
            ours[name].version,
            theirs[name].version,
        )
        for name in Category.values
        if name in ours and name in theirs
    ]


def _told(state: RootState) -> str:
    told = {"all": _("All searchable"), "vacant": _("Restricted, nothing left to search")}
    return told.get(state.words) or words.selected(state.count)


def _copied(seen: Visit, other: PhoneAgent) -> HttpResponse:
    for category in seen.request.POST.getlist("category"):
        if category in Category.values:
            _copy(seen, other, category)
    return HttpResponseRedirect(reverse("admin:tenants_phoneagent_scope", args=[seen.agent.pk]))


def _copy(seen: Visit, other: PhoneAgent, category: str) -> None:
    sent = seen.request.POST
    version, theirs = (number_in(sent.get(f"{n}.{category}", "")) for n in ("version", "theirs"))
    try:
        shown = selection_of(other, category, version=theirs or 0)
    except ScopeChangedMeanwhile:
        told = _("Somebody changed the scope of {agent} after you opened the page.")
        messages.error(seen.request, told.format(agent=other.name))
        return
    try:
        left_out = restore_selection(
            seen.agent, shown, version=version or 0, by=seen.actor, at=seen.at
        )
    except ScopeChangedMeanwhile:
        messages.error(seen.request, _("Somebody changed the scope after you opened the page."))
    except SelectionGone:
        messages.error(seen.request, gone())
    else:
        messages.success(seen.request, restored(category, left_out))
