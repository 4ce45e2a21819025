"""What a person does in the browser: to chosen items, to all that match, and to a folder."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from knowledge.browser import words
from knowledge.browser.asking import Asked, asked_in, matching
from knowledge.browser.jobs import back_to, work_now
from knowledge.browser.lists import browse_address, place_in, trail
from knowledge.browser.rooms import Visit, editing
from knowledge.folders import folder_key, leaf, parent, segments, source_slug
from knowledge.models import BulkAction, BulkJob, Source
from knowledge.shelving.folders import (
    Refiled,
    delete_folder,
    items_in,
    lift_folder,
    move_folder,
    rename_folder,
)
from knowledge.shelving.items import fresh_sources
from knowledge.shelving.jobs import Order, start, start_chosen
from knowledge.shelving.picks import folder_picks
from tenants.admin_site import own_transaction
from tenants.errors import EarmarkError

ITEM_ACTIONS = (
    BulkAction.DELETE, BulkAction.RESTORE, BulkAction.PUBLISH, BulkAction.UNPUBLISH,
    BulkAction.MOVE,
)  # fmt: skip
# What the column holds.
_MOST_VERSIONS: Final = 2**63 - 1


@own_transaction
@require_POST
def do(request: HttpRequest, organization: str) -> HttpResponse:
    """Begin an action on the chosen items, or, once it is confirmed, on all that match."""
    seen, asked = editing(request, organization), asked_in(request.POST)
    order_or_none = _ordered(seen, asked)
    if order_or_none is None:
        return HttpResponseRedirect(_back(seen, asked))
    if request.POST.get("all") and not request.POST.get("confirmed"):
        return _confirmation(seen, asked, order_or_none)
    job = _begun(seen, asked, order_or_none)
    if job is None:
        return HttpResponseRedirect(_back(seen, asked))
    work_now(seen, job)
    return back_to(seen, job, _back(seen, asked))


def _ordered(seen: Visit, asked: Asked) -> Order | None:
    action, target = seen.request.POST.get("action", ""), ""
    if action not in ITEM_ACTIONS:
        raise SuspiciousOperation
    try:
        if action == BulkAction.MOVE:
            target = _key(seen, seen.request.POST.get("target", ""))
    except EarmarkError as refusal:
        messages.error(seen.request, words.refusal(refusal))
        return None
    return Order(action, asked.q or asked.place, target)


def _key(seen: Visit, text: str) -> str:
    """Return the key that a person wrote as source/path; the name of a source is known too."""
    names = segments(text)
    key = folder_key(names[0] if names else "", "/".join(names[1:]))
    with seen.context():
        place_in(seen, key)
    return key


def _begun(seen: Visit, asked: Asked, order: Order) -> BulkJob | None:
    sent = seen.request.POST
    try:
        with seen.context():
            who: dict[str, Any] = {"by": seen.actor, "at": seen.at}
            if sent.get("all"):
                rows = matching(seen.organization_id, asked, at=seen.at)
                return start(seen.organization_id, order, rows, **who)
            return start_chosen(seen.organization_id, order, _chosen(sent.getlist("row")), **who)
    except EarmarkError as refusal:
        messages.error(seen.request, words.refusal(refusal))
    return None


def _chosen(tokens: list[str]) -> dict[UUID, int]:
    try:
        pairs = [token.split(":") for token in tokens]
        seen = {UUID(pk): int(version) for pk, version in pairs}
    except ValueError:
        raise SuspiciousOperation from None
    if not all(0 <= version <= _MOST_VERSIONS for version in seen.values()):
        raise SuspiciousOperation
    return seen


def _confirmation(seen: Visit, asked: Asked, order: Order) -> HttpResponse:
    with seen.context():
        count = matching(seen.organization_id, asked, at=seen.at).count()
        return seen.shown(
            "confirm",
            _("{action} all that match?").format(action=words.ACTIONS[BulkAction(order.action)]),
            asked=asked,
            order=order,
            count=words.items(count),
            has_some=bool(count),
            back=_back(seen, asked),
            trail=trail(seen, place_in(seen, asked.place)),
        )


def _back(seen: Visit, asked: Asked) -> str:
    address = seen.request.POST.get("next", "")
    if address and url_has_allowed_host_and_scheme(address, allowed_hosts=None):
        return address
    return browse_address(seen, asked)


@own_transaction
@require_http_methods(["GET", "POST"])
def folder_page(request: HttpRequest, organization: str) -> HttpResponse:
    """Rename, move or delete a folder; a source stays, only what is in it can be deleted."""
    seen = editing(request, organization)
    asked = asked_in(request.POST if request.method == "POST" else request.GET)
    with seen.context():
        place_in(seen, asked.place or "/")
    if request.method == "POST":
        answer = _folder_done(seen, asked)
        if answer is not None:
            return answer
    return _folder_asked(seen, asked)


def _folder_asked(seen: Visit, asked: Asked) -> HttpResponse:
    key = asked.place
    with seen.context():
        place = place_in(seen, key)
        count = items_in(seen.organization_id, key).filter(deleted_at=None).count()
        return seen.shown(
            "folder",
            _("Folder {name}").format(name=place.name),
            asked=asked,
            place=place,
            trail=trail(seen, place),
            leaf=leaf(key),
            above=parent(key) or "",
            is_source=parent(key) is None,
            is_fresh=_is_fresh(seen, key),
            count=count,
            count_words=words.items(count),
            agents=folder_picks().agents(seen.organization_id, key),
        )


def _is_fresh(seen: Visit, key: str) -> bool:
    rows = Source.objects.filter(organization_id=seen.organization_id, slug=source_slug(key))
    source = rows.first()
    return source is not None and source.pk in fresh_sources(seen.organization_id)


def _folder_done(seen: Visit, asked: Asked) -> HttpResponse | None:
    try:
        with seen.context():
            done, place = _folder_verb(seen, asked.place)
    except EarmarkError as refusal:
        messages.error(seen.request, words.refusal(refusal))
        return None
    address = browse_address(seen, Asked(place=place))
    if isinstance(done, BulkJob):
        work_now(seen, done)
        return back_to(seen, done, address)
    if done.rereading is not None:
        work_now(seen, done.rereading)
    told = _("Done: {items} filed there now.").format(items=words.items(done.items))
    messages.success(seen.request, told)
    return HttpResponseRedirect(address)


def _folder_verb(seen: Visit, key: str) -> tuple[Refiled | BulkJob, str]:
    """Do what the form says; return what was done, and the folder to show next."""
    sent, number = seen.request.POST, seen.organization_id
    who: dict[str, Any] = {"by": seen.actor, "at": seen.at}
    action, above = sent.get("action", ""), parent(key) or ""
    if action == "rename":
        done = rename_folder(number, key, sent.get("name", ""), **who)
        return done, f"{above}/{segments(sent.get('name', ''))[0]}"
    if action == "move":
        new = _key(seen, f"{sent.get('target', '')}/{leaf(key)}")
        return move_folder(number, key, new, **who), new
    expected = sent.get("expected", "")
    who["expected"] = int(expected) if expected.isdigit() and len(expected) < 10 else -1
    if action == "lift":
        return lift_folder(number, key, **who), above
    if action == "delete":
        return delete_folder(number, key, **who), above or key
    raise SuspiciousOperation
