"""The pages of the knowledge browser that only show."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from knowledge.browser import words
from knowledge.browser.asking import Asked, asked_in
from knowledge.browser.jobs import Notice, notice_in
from knowledge.browser.lists import item_lines, listing_of, place_in, trail
from knowledge.browser.rooms import Visit, item_in, visit
from knowledge.browser.showing import agents_of, gates_of, history_of, passages_of, safe_html
from knowledge.folders import source_slug
from knowledge.models import Item, ItemKind, ReviewStatus, Source
from knowledge.places import Place
from knowledge.reserved import IS_RESERVED
from tenants.admin_authority import organizations_seen
from tenants.admin_site import our_site
from tenants.models import Role


@require_GET
def organizations(request: HttpRequest) -> HttpResponse:
    """Go to the one organization that a person belongs to, or let them choose."""
    seen = organizations_seen(request, Role.VIEWER)
    if not seen:
        raise PermissionDenied
    if len(seen) == 1:
        return HttpResponseRedirect(reverse("admin:browse", args=[seen[0].slug]))
    context = {**our_site().each_context(request), "title": _("Knowledge"), "organizations": seen}
    return TemplateResponse(request, "knowledge/browser_organizations.html", context)


@require_GET
def browse(request: HttpRequest, organization: str) -> HttpResponse:
    """Show a folder, or what matches."""
    seen, asked = visit(request, organization), asked_in(request.GET)
    place = place_in(seen, asked.place)
    notice: Notice | None = notice_in(seen)
    return seen.shown(
        "list",
        _title(seen, asked, place),
        asked=asked,
        place=place,
        trail=trail(seen, place),
        list=listing_of(seen, asked, place, request.GET.get("cursor", "")),
        filters=_filters(asked),
        notice=notice,
        upload=_upload(seen, place),
        folder_address=_folder_address(seen, place),
        actions=_actions(asked),
    )


def _title(seen: Visit, asked: Asked, place: Place) -> str:
    if asked.deleted:
        return _("Deleted items")
    return place.name or _("Knowledge of {name}").format(name=seen.organization.name)


def _filters(asked: Asked) -> list[tuple[str, str, list[tuple[str, str, bool]]]]:
    told = (
        ("status", _("Status"), words.STATUSES),
        ("dataset", _("Dataset"), words.DATASETS),
        ("index", _("Index"), words.INDEX),
    )
    return [
        (name, label, [(str(v), str(w), str(v) == getattr(asked, name)) for v, w in known.items()])
        for name, label, known in told
    ]


def _actions(asked: Asked) -> list[tuple[str, str]]:
    names = ["restore"] if asked.deleted else ["delete", "publish", "unpublish"]
    return [(name, str(words.ACTIONS[name])) for name in names]


def _upload(seen: Visit, place: Place) -> dict[str, str] | None:
    """Return where files go that are brought in here: the source, and the path below it."""
    if not place.key or not seen.may_change:
        return None
    rows = Source.objects.filter(organization_id=seen.organization_id)
    source = rows.filter(slug=source_slug(place.key)).exclude(IS_RESERVED).first()
    if source is None:
        return None
    return {"source": str(source.pk), "folder": place.key.partition("/")[2]}


def _folder_address(seen: Visit, place: Place) -> str:
    if not place.key or not seen.may_change:
        return ""
    address = reverse("admin:browse_folder", args=[seen.organization.slug])
    return address + Asked(place=place.key).address()


@require_GET
def item_page(request: HttpRequest, organization: str, item_id: UUID) -> HttpResponse:
    """Show an item: what an agent would say, the document, whom it is for, and what was done."""
    seen = visit(request, organization)
    item = item_in(seen, item_id)
    place = place_in(seen, item.folder_key)
    return seen.shown(
        "item",
        item.title,
        item=item,
        line=item_lines(seen, [item])[0],
        trail=trail(seen, place),
        document=safe_html(item.body),
        passages=passages_of(item),
        gates=gates_of(item),
        agents=agents_of(item),
        entries=[(entry, words.history(entry.verb)) for entry in history_of(item)],
        notice=notice_in(seen),
        actions=_item_actions(item) if seen.may_change else [],
        may_move=seen.may_change and item.kind == ItemKind.KNOWLEDGE and item.deleted_at is None,
        dataset=words.DATASETS[item.dataset],
    )


def _item_actions(item: Item) -> list[tuple[str, str]]:
    """Return what this item leaves open here: golden answers and corrections have pages of their own."""
    if item.kind != ItemKind.KNOWLEDGE:
        return []
    if item.deleted_at is not None:
        return _actions(Asked(deleted="yes"))
    turned = "unpublish" if item.review_status == ReviewStatus.APPROVED else "publish"
    return [(name, label) for name, label in _actions(Asked()) if name in {"delete", turned}]
