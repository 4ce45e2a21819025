"""Pages that show: the tree, one instruction with its draft and versions, what was deleted."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from knowledge.admin_chips import attach_states, chip
from knowledge.editor.asking import (
    FILES,
    PUBLISHES,
    WRITES,
    directory_named,
    find_instruction,
    organization_of,
    roles_of,
    shown,
)
from knowledge.editor.holding import Held, held
from knowledge.editor.listing import page_found, page_in
from knowledge.editor.placing import way_to
from knowledge.editor.publishing import RESTORABLE
from knowledge.editor.rendering import rendered
from knowledge.editor.telling import audience, chips, compared, history, segment_names
from knowledge.editor.wording import Wording, wording_of
from knowledge.models import Instruction, InstructionDirectory, InstructionDraft
from tenants.admin_authority import at_of, organizations_seen
from tenants.models import Role

MOST_DELETED: Final = 200
LONGEST_QUERY: Final = 200


def show_tree(request: HttpRequest) -> HttpResponse:
    """Show what lies in one directory, or what a text finds."""
    organization = organization_of(request)
    directory = directory_named(request, organization)
    words = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    edges = {name: request.GET.get(name, "") for name in ("after", "before")}
    page = (
        page_found(organization.pk, words, **edges)
        if words
        else page_in(organization.pk, directory.pk if directory else None, **edges)
    )
    context = {
        "organization": organization,
        "organizations": organizations_seen(request, Role.VIEWER),
        "directory": directory,
        "way": way_to(directory),
        "words": words,
        "page": page,
        "lines": _lines(page.instructions),
        **rights(request, organization.pk),
    }
    title = directory.name if directory else _("Instructions of %s") % organization.name
    return shown(request, "tree.html", title, context)


def _lines(rows: Any) -> list[dict[str, Any]]:
    """Return instructions with how they stand.

    Cost: one statement for all of them.
    """
    drafts = {
        draft.instruction_id: draft
        for draft in InstructionDraft.objects.filter(instruction__in=rows)
    }
    return [_line(row, drafts.get(row.pk)) for row in rows]


def _line(row: Instruction, draft: InstructionDraft | None) -> dict[str, Any]:
    it = Held(row, draft)
    # What is not served has no other name than that of its draft.
    title = draft.title if draft is not None and not it.is_served else row.title
    return {"row": row, "title": title, "chips": chips(it)}


def rights(request: HttpRequest, organization_id: int) -> dict[str, bool]:
    """Return what the person may do with instructions, as the pages ask for it."""
    roles = roles_of(request, organization_id)
    return {
        "may_write": bool(WRITES & roles),
        "may_publish": bool(PUBLISHES & roles),
        "may_file": bool(FILES & roles),
    }


def show_instruction(request: HttpRequest, instruction_id: UUID) -> HttpResponse:
    """Show one instruction: what is served, the draft beside it, versions and history."""
    row = find_instruction(request, instruction_id)
    it, names = held(row), segment_names(row.organization_id)
    attach_states([row], at=at_of(request))
    draft = it.newest if it.draft is not None or not it.is_served else None
    context = {
        **about(row),
        "it": it,
        "chips": chips(it),
        "index_chip": chip(row.index_state, at=at_of(request)) if it.is_served else "",  # type: ignore[attr-defined]
        "live": _told(it.live, names),
        "draft": _told(draft, names),
        "differences": compared(it.live, draft, names) if it.live and draft else [],
        "is_outdated": it.draft is not None and it.draft.base_digest != wording_of(row).digest,
        "versions": list(row.versions.select_related("created_by").defer("body")),
        "history": history(row),
        "restorable_until": row.deleted_at + RESTORABLE if row.deleted_at else None,
        **rights(request, row.organization_id),
    }
    return shown(request, "instruction.html", it.newest.title, context)


def about(row: Instruction) -> dict[str, Any]:
    """Return what every page of an instruction says of it: whose it is and where it lies."""
    place = row.directory if row.directory and row.directory.deleted_at is None else None
    return {"row": row, "organization": row.organization, "way": way_to(place)}


def _told(wording: Wording | None, names: Any) -> dict[str, Any] | None:
    if wording is None:
        return None
    return {
        "wording": wording,
        "html": rendered(wording.body),
        "audience": audience(wording, names),
    }


def show_version(request: HttpRequest, instruction_id: UUID, number: int) -> HttpResponse:
    """Show a text that was served beside the newest one."""
    row = find_instruction(request, instruction_id)
    version = row.versions.select_related("created_by").filter(number=number).first()
    if version is None:
        raise Http404
    it, names = held(row), segment_names(row.organization_id)
    context = {
        **about(row),
        "version": version,
        "said": _told(wording_of(version), names),
        "differences": compared(wording_of(version), it.newest, names),
        **rights(request, row.organization_id),
    }
    title = _("Version %(number)s: %(title)s") % {"number": number, "title": version.title}
    return shown(request, "version.html", title, context)


def show_deleted(request: HttpRequest) -> HttpResponse:
    """Show what was deleted in the last thirty days and can come back."""
    organization = organization_of(request)
    since = at_of(request) - RESTORABLE
    own = {"organization": organization, "deleted_at__gte": since}
    places = InstructionDirectory.every.filter(**own).select_related("parent")
    rows = Instruction.objects.filter(**own).select_related("directory").defer("body")
    context = {
        "organization": organization,
        "organizations": organizations_seen(request, Role.VIEWER),
        "directories": [
            one
            for one in places.order_by("-deleted_at", "name")[:MOST_DELETED]
            # What went with the directory around it comes back with that one.
            if one.parent is None or one.parent.deleted_at != one.deleted_at
        ],
        "rows": rows.order_by("-deleted_at", "title", "id")[:MOST_DELETED],
        **rights(request, organization.pk),
    }
    title = _("Deleted instructions of %s") % organization.name
    return shown(request, "deleted.html", title, context)
