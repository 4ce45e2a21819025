"""The page "Scope" of a phone agent, and its parts as a script asks for them."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from knowledge.errors import CursorRefused
from knowledge.models import Category
from scopes.errors import DeltaRefused, ScopeChangedMeanwhile, SelectionGone
from scopes.previewing import golden_outside
from scopes.resolution import allowlist_if
from scopes.selector import words
from scopes.selector.deltas import Delta, read_delta
from scopes.selector.picked import Picked, tree_of
from scopes.selector.pressing import CHANGING, Pressed, press
from scopes.selector.previews import golden_warning, preview_view
from scopes.selector.rooms import Visit, category_in, part, visit
from scopes.selector.roots import Root, folder_view, found_view, review_view, root_of
from scopes.selector.saving import Onto, Saved, leaves_nothing, names_moved, save
from scopes.selector.sheet import Sheet, number_in, query_in, sheets_of, with_boxes
from scopes.selector.state import RootState, root_states
from scopes.selector.telling import Conflict, Hindrance, conflict_of, told_saved
from tenants.admin_site import our_site, own_transaction


@own_transaction
@require_http_methods(["GET", "POST"])
def scope_page(request: HttpRequest, object_id: str) -> HttpResponse:
    """Show both roots; a POST is a button pressed without a script."""
    seen = visit(request, object_id)
    if request.method != "POST":
        return _whole(seen, Pressed({name: Sheet(name) for name in Category.values}))
    try:
        return _whole(seen, _pressed(seen))
    except (DeltaRefused, CursorRefused) as refusal:
        return HttpResponse(_(str(refusal)), status=400, content_type="text/plain")


def _pressed(seen: Visit) -> Pressed:
    sent = seen.request.POST
    action = sent.get("action", "")
    if action.partition(":")[0] in CHANGING:
        _require_change(seen)
    sheets = {
        name: with_boxes(sheet, sent) if seen.may_change else sheet
        for name, sheet in sheets_of(seen.request).items()
    }
    return press(seen, sheets, action)


def _require_change(seen: Visit) -> None:
    if not seen.may_change:
        raise PermissionDenied


def _whole(seen: Visit, pressed: Pressed) -> HttpResponse:
    deltas = {name: sheet.delta for name, sheet in pressed.sheets.items()}
    preview = preview_view(seen, deltas) if pressed.preview else None
    with seen.context():
        roots = [_root(seen, pressed, name) for name in Category.values]
        context = {
            **our_site().each_context(seen.request),
            "title": _("Scope of {agent}").format(agent=seen.agent.name),
            "agent": seen.agent,
            "roots": [root for root in roots if root],
            "may_change": seen.may_change,
            "words": words.script_words(),
            "preview": preview,
        }
        status = 409 if pressed.conflicts else 200
        return render(seen.request, "scopes/page.html", context, status=status)


def _root(seen: Visit, pressed: Pressed, name: str) -> Root | None:
    sheet = pressed.sheets[name]
    state = root_states(seen.agent, seen.at, {name: sheet.delta}).get(name)
    if state is None:
        return None
    root = root_of(seen, sheet, state)
    root.told, root.alert = pressed.told.get(name, ""), pressed.alerts.get(name, "")
    if name in pressed.conflicts:
        root.conflict = _conflict_in(seen, state, sheet.delta, sheet.version)
    return root


def _conflict_in(seen: Visit, state: RootState, delta: Delta, read: int | None) -> Conflict:
    hindrance = None
    if leaves_nothing(seen.agent, state.category, state.delta):
        hindrance = Hindrance.LEAVES_NOTHING
    elif names_moved(seen.agent, state.category, delta, read):
        hindrance = Hindrance.FOLDERS_MOVED
    return conflict_of(state, hindrance)


@own_transaction
@require_GET
def folder_part(request: HttpRequest, object_id: str) -> HttpResponse:
    """Show one page of one folder."""
    seen = visit(request, object_id)
    category = category_in(request.GET.get("root", ""))
    with seen.context():
        place = tree_of(category, seen.agent.organization_id).place(request.GET.get("place", ""))
        if place is None:
            raise Http404
        try:
            listing = folder_view(
                Picked(seen.agent, category), place, request.GET.get("cursor", "")
            )
        except CursorRefused as refusal:
            raise Http404 from refusal
        return part(seen, "scopes/list.html", {"list": listing})


@own_transaction
@require_GET
def find_part(request: HttpRequest, object_id: str) -> HttpResponse:
    """Show what a search by name finds; nothing for an empty one."""
    seen = visit(request, object_id)
    category = category_in(request.GET.get("root", ""))
    text = query_in(request.GET.get("q", ""))
    if not text:
        return HttpResponse("")
    with seen.context():
        view = found_view(Picked(seen.agent, category), Delta(), text)
        return part(seen, "scopes/flat.html", {"flat": view})


@own_transaction
@require_POST
def review_part(request: HttpRequest, object_id: str) -> HttpResponse:
    """Show what is selected; sent by POST, since changes may be longer than an address."""
    seen = visit(request, object_id)
    category = category_in(request.POST.get("root", ""))
    offset = request.POST.get("offset", "0")
    with seen.context():
        delta = _delta(request)
        number = int(offset) if offset.isdigit() and len(offset) < 9 else 0
        view = review_view(Picked(seen.agent, category), delta, number)
        return part(seen, "scopes/flat.html", {"flat": view})


@own_transaction
@require_GET
def root_part(request: HttpRequest, object_id: str) -> HttpResponse:
    """Show a root as it is stored now."""
    seen = visit(request, object_id)
    return _fresh(seen, category_in(request.GET.get("root", "")), told="")


@own_transaction
@require_POST
def save_part(request: HttpRequest, object_id: str) -> HttpResponse:
    """Save one root; 409 with the two ways out when somebody saved meanwhile."""
    seen = visit(request, object_id)
    category = category_in(request.POST.get("root", ""))
    _require_change(seen)
    try:
        delta = read_delta(request.POST.get("delta", ""))
        return _save(seen, category, delta)
    except (DeltaRefused, SelectionGone) as refusal:
        return HttpResponse(_(str(refusal)), status=400, content_type="text/plain")


def _save(seen: Visit, category: str, delta: Delta) -> HttpResponse:
    onto = _onto(seen.request.POST)
    try:
        saved = save(seen.agent, category, delta, onto=onto, by=seen.actor, at=seen.at)
    except ScopeChangedMeanwhile:
        return _conflict(seen, category, delta, onto)
    return _saved(seen, category, delta, saved)


def _onto(sent: QueryDict) -> Onto:
    version = number_in(sent.get("version", "")) or 0
    # A script of the release before names no base: what it saves `fresh` is a merge.
    unnamed = None if sent.get("fresh") else version
    return Onto(version, number_in(sent.get("base", "")) if "base" in sent else unnamed)


def _saved(seen: Visit, category: str, delta: Delta, saved: Saved) -> HttpResponse:
    told = _told(seen, category, delta, saved)
    # Boxes on the page are those of another version, or name what was left out: show them anew.
    if saved.is_merged or saved.left_out or seen.request.POST.get("fresh"):
        return _fresh(seen, category, told=told)
    with seen.context():
        root = _stored_root(seen, category)
        root.told = told
        return part(seen, "scopes/state.html", {"root": root})


def _told(seen: Visit, category: str, delta: Delta, saved: Saved) -> str:
    told = told_saved(category, delta, saved)
    if category != Category.KNOWLEDGE or not delta:
        return told
    with seen.context():
        allowlist = allowlist_if(seen.agent, {}, channel="", country=None, at=seen.at)
        outside = golden_outside(allowlist)
    return f"{told} {golden_warning(outside)}" if outside else told


def _fresh(seen: Visit, category: str, *, told: str) -> HttpResponse:
    with seen.context():
        root = _stored_root(seen, category)
        root.told = told
        response = part(seen, "scopes/root.html", {"root": root, "words": words.script_words()})
    response["HX-Retarget"] = f"#root-{category}"
    response["HX-Reswap"] = "outerHTML"
    return response


def _stored_root(seen: Visit, category: str) -> Root:
    found = _root(seen, Pressed({category: Sheet(category)}), category)
    if found is None:
        raise Http404
    return found


def _conflict(seen: Visit, category: str, delta: Delta, onto: Onto) -> HttpResponse:
    with seen.context():
        state = root_states(seen.agent, seen.at, {category: delta})[category]
        context = {"conflict": _conflict_in(seen, state, delta, onto.read), "category": category}
        response = part(seen, "scopes/conflict.html", context)
    response.status_code = 409
    response["HX-Retarget"] = f"#message-{category}"
    response["HX-Reswap"] = "innerHTML"
    return response


def _delta(request: HttpRequest) -> Delta:
    try:
        return read_delta(request.POST.get("delta", ""))
    except DeltaRefused as refusal:
        raise Http404 from refusal
