"""The pages of embedding spaces: how far each is, and - for operators - fill, switch, go back, drop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.errors import KnowledgeError
from knowledge.models import EmbeddingSpace
from knowledge.spaces.creating import start_filling
from knowledge.spaces.dropping import start_dropping
from knowledge.spaces.progress import Progress, progress
from knowledge.spaces.switching import roll_back, space_before, stands_in_the_way, switch
from tenants.admin_authority import actor_of, at_of, authority_of, organizations_seen
from tenants.admin_site import our_site, own_transaction
from tenants.auditing import Actor
from tenants.models import Organization, Role

Status = EmbeddingSpace.Status
MOVING: Final = frozenset({Status.FILLING, Status.DROPPING})
STATES: Final[dict[str, str | Promise]] = {
    Status.CREATED: gettext_lazy("made, nothing in it yet"),
    Status.FILLING: gettext_lazy("being filled"),
    Status.ACTIVE: gettext_lazy("searched"),
    Status.KEPT: gettext_lazy("kept to go back to"),
    Status.DROPPING: gettext_lazy("being deleted"),
    Status.RETIRED: gettext_lazy("never used"),
}


@dataclass(frozen=True)
class Act:
    """Something an operator may do with a space, with what it means in words."""

    label: str | Promise
    consequence: str | Promise
    done: str | Promise
    statuses: frozenset[str]
    do: Callable[[EmbeddingSpace, Actor, datetime], object]


ACTS: Final[dict[str, Act]] = {
    "fill": Act(
        gettext_lazy("Fill it"),
        gettext_lazy(
            "Everything that is searched is embedded in this space too, in the background. This is paid for."
        ),
        gettext_lazy("It is being filled."),
        frozenset({Status.CREATED, Status.FILLING, Status.KEPT}),
        lambda space, by, at: start_filling(space, by=by, at=at),
    ),
    "switch": Act(
        gettext_lazy("Search in it"),
        gettext_lazy(
            "Every new search of every organization uses this space. The one before is kept, so you can go back."
        ),
        gettext_lazy("Searches use it now."),
        frozenset({Status.FILLING, Status.KEPT}),
        lambda space, by, at: switch(space, by=by, at=at),
    ),
    "drop": Act(
        gettext_lazy("Delete it"),
        gettext_lazy(
            "All its vectors are deleted in the background. To have them again, everything is paid for again."
        ),
        gettext_lazy("It is being deleted."),
        frozenset({Status.CREATED, Status.FILLING, Status.KEPT, Status.RETIRED}),
        lambda space, by, at: start_dropping(space, by=by, at=at),
    ),
    "rollback": Act(
        gettext_lazy("Go back"),
        gettext_lazy("Every new search uses the space that was searched before."),
        gettext_lazy("Searches use it again."),
        frozenset({Status.KEPT}),
        lambda _space, by, at: roll_back(by=by, at=at),
    ),
}


@dataclass(frozen=True)
class Shown:
    """A space as the page shows it; `rows` are of the person's own organizations."""

    space: EmbeddingSpace
    state: str | Promise
    rows: Sequence[Progress]
    obstacle: str
    acts: Sequence[tuple[str | Promise, str]]

    @property
    def assets(self) -> int:
        """How many indexed rows there are."""
        return sum(one.assets for one in self.rows)

    @property
    def filled(self) -> int:
        """How many of them have all their vectors."""
        return sum(one.filled for one in self.rows)


@own_transaction
def show_spaces(request: HttpRequest) -> HttpResponse:
    """Show every space with its progress in the person's organizations."""
    _require(request)
    spaces = EmbeddingSpace.objects.exclude(status=Status.RETIRED).order_by("pk")
    organizations = organizations_seen(request, Role.VIEWER)
    shown = [_shown(request, space, organizations) for space in spaces]
    context = {
        **our_site().each_context(request),
        "title": _("Embedding spaces"),
        "spaces": shown,
        "is_moving": any(one.space.status in MOVING for one in shown),
        "is_operator": authority_of(request).is_operator,
    }
    fragment = bool(getattr(request, "htmx", False))
    name = "knowledge/spaces_state.html" if fragment else "knowledge/spaces.html"
    return TemplateResponse(request, name, context)


def _require(request: HttpRequest) -> None:
    if not authority_of(request).has_somewhere(Role.VIEWER):
        raise PermissionDenied


def _shown(
    request: HttpRequest, space: EmbeddingSpace, organizations: Sequence[Organization]
) -> Shown:
    rows = progress(space, organizations)
    waits = space.status in {Status.FILLING, Status.KEPT}
    acts = _acts(space) if authority_of(request).is_operator else ()
    return Shown(space, STATES[space.status], rows, stands_in_the_way(rows) if waits else "", acts)


def _acts(space: EmbeddingSpace) -> list[tuple[str | Promise, str]]:
    before = space_before()
    return [
        (act.label, reverse(f"admin:space_{name}", args=[space.pk]))
        for name, act in ACTS.items()
        if space.status in act.statuses
        and (name != "rollback" or (before is not None and before.pk == space.pk))
    ]


@own_transaction
def fill_space(request: HttpRequest, space_id: int) -> HttpResponse:
    """Ask, then start to fill a space."""
    return _confirmed(request, space_id, "fill")


@own_transaction
def switch_space(request: HttpRequest, space_id: int) -> HttpResponse:
    """Ask, then search in a space."""
    return _confirmed(request, space_id, "switch")


@own_transaction
def drop_space(request: HttpRequest, space_id: int) -> HttpResponse:
    """Ask, then delete a space."""
    return _confirmed(request, space_id, "drop")


@own_transaction
def roll_back_space(request: HttpRequest, space_id: int) -> HttpResponse:
    """Ask, then search in the space before again."""
    return _confirmed(request, space_id, "rollback")


def _confirmed(request: HttpRequest, space_id: int, name: str) -> HttpResponse:
    """Spaces belong to the installation, so only operators act on them."""
    _require(request)
    if not authority_of(request).is_operator:
        raise PermissionDenied
    space, act = _space(space_id), ACTS[name]
    refusal = "" if space.status in act.statuses else _("That cannot be done with it as it is now.")
    if request.method == "POST" and not refusal:
        refusal = _done(request, space, act)
        if not refusal:
            messages.success(request, str(act.done))
            return HttpResponseRedirect(reverse("admin:spaces"))
    context = {
        **our_site().each_context(request),
        "title": act.label,
        "space": space,
        "act": act,
        "refusal": refusal,
        "rows": progress(space, Organization.objects.order_by("pk")),
        "audience": Organization.objects.filter(is_active=True).count(),
    }
    return TemplateResponse(request, "knowledge/space_confirm.html", context)


def _space(space_id: int) -> EmbeddingSpace:
    space = EmbeddingSpace.objects.filter(pk=space_id).first()
    if space is None:
        raise Http404
    return space


def _done(request: HttpRequest, space: EmbeddingSpace, act: Act) -> str:
    try:
        act.do(space, actor_of(request), at_of(request))
    except KnowledgeError as error:
        return str(error)
    return ""


def add_pages() -> None:
    """Put the pages into the site."""
    site = our_site()
    site.add_page("spaces/", show_spaces, "spaces")
    for name, view in (
        ("fill", fill_space), ("switch", switch_space), ("drop", drop_space),
        ("rollback", roll_back_space),
    ):  # fmt: skip
        site.add_page(f"spaces/<int:space_id>/{name}/", view, f"space_{name}")
