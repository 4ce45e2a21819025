"""The editor: a draft is written, previewed and saved; a stale one is shown beside the newer text."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from knowledge.editor.asking import (
    WRITES,
    directory_named,
    find_instruction,
    hand_of,
    in_own_organizations,
    organization_of,
    require,
    shown,
)
from knowledge.editor.drafting import begin, save_draft
from knowledge.editor.errors import (
    InstructionDeleted,
    WordingChanged,
    WordingRefused,
)
from knowledge.editor.forms import WordingForm
from knowledge.editor.holding import held
from knowledge.editor.placing import way_to
from knowledge.editor.reading import about
from knowledge.editor.rendering import rendered
from knowledge.editor.telling import audience, compared, segment_names
from knowledge.editor.wording import Wording
from knowledge.indexing.filing import DirectoryGone
from knowledge.models import Instruction, InstructionDirectory
from tenants.admin_site import own_transaction
from tenants.models import Organization


@own_transaction
def new_instruction(request: HttpRequest) -> HttpResponse:
    """Write a new instruction; it is served to nobody yet."""
    with in_own_organizations(request):
        organization = organization_of(request, WRITES)
        place = directory_named(request, organization)
        form = WordingForm(organization.pk, request.POST or None, initial={"visibility": "public"})
        if not form.is_valid() or "preview" in request.POST:
            return _new_page(request, organization, place, form)
    try:
        made = begin(
            organization.pk,
            form.wording(),
            hand_of(request),
            directory_id=place.pk if place else None,
        )
    except WordingRefused as refusal:
        form.refuse(refusal.data["fields"])
    except DirectoryGone:
        raise Http404 from None
    else:
        messages.success(request, _("Saved as a draft. Callers do not hear it yet."))
        return redirect("admin:instruction_show", made.pk)
    with in_own_organizations(request):
        return _new_page(request, organization, place, form)


def _new_page(
    request: HttpRequest,
    organization: Organization,
    place: InstructionDirectory | None,
    form: WordingForm,
) -> HttpResponse:
    context = {"form": form, "organization": organization, "way": way_to(place)}
    preview = _preview(form, organization.pk)
    return shown(request, "form.html", _("New instruction"), context | preview)


@own_transaction
def edit_instruction(request: HttpRequest, instruction_id: UUID) -> HttpResponse:
    """Change the draft; the first change of what is live begins one."""
    with in_own_organizations(request):
        row = find_instruction(request, instruction_id)
        require(request, WRITES, row.organization_id)
        form = WordingForm(row.organization_id, request.POST or None, initial=_begun(row))
        if not form.is_valid() or "preview" in request.POST:
            return _edit_page(request, row, form)
    try:
        save_draft(
            row.organization_id,
            row.pk,
            form.wording(),
            hand_of(request),
            seen=form.cleaned_data["seen"],
        )
    except WordingChanged as conflict:
        return _conflict(request, instruction_id, conflict)
    except (WordingRefused, InstructionDeleted) as refusal:
        form.refuse(refusal.data.get("fields", {"": _(str(refusal))}))
        with in_own_organizations(request):
            return _edit_page(request, row, form)
    messages.success(request, _("Saved. What callers hear has not changed."))
    return redirect("admin:instruction_show", row.pk)


def _begun(row: Instruction) -> dict[str, Any]:
    it = held(row)
    return it.newest.columns() | {"seen": it.seen}


def _edit_page(request: HttpRequest, row: Instruction, form: WordingForm) -> HttpResponse:
    preview = _preview(form, row.organization_id)
    title = _("Edit: %s") % held(row).newest.title
    return shown(request, "form.html", title, about(row) | {"form": form} | preview)


def _conflict(request: HttpRequest, instruction_id: UUID, conflict: WordingChanged) -> HttpResponse:
    """Show both texts; what was written stays in the form and can be saved over the newer one."""
    yours: Wording = conflict.data["yours"]
    theirs: Wording = conflict.data["theirs"]
    with in_own_organizations(request):
        row = find_instruction(request, instruction_id)
        begun = yours.columns() | {"seen": conflict.data["seen"]}
        context = {
            **about(row),
            "form": WordingForm(row.organization_id, initial=begun),
            "refusal": _(str(conflict)),
            "differences": compared(theirs, yours, segment_names(row.organization_id)),
        }
        title = _("Changed meanwhile: %s") % theirs.title
        return shown(request, "form.html", title, context, status=409)


def _preview(form: WordingForm, organization_id: int) -> dict[str, Any]:
    if not form.is_bound or not form.is_valid():
        return {}
    wording = form.wording()
    names = segment_names(organization_id)
    told = {"html": rendered(wording.body), "audience": audience(wording, names)}
    return {"preview": told | {"wording": wording}}
