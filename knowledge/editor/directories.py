"""Directories: made, renamed, moved, deleted in one of two ways, and brought back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
)
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from knowledge.editor import clearing, placing
from knowledge.editor.asking import (
    FILES,
    directory_named,
    find_directory,
    hand_of,
    in_own_organizations,
    organization_of,
    require,
    shown,
)
from knowledge.editor.deciding import paths_of
from knowledge.editor.forms import DirectoryForm, PlaceForm
from knowledge.models import InstructionDirectory
from tenants.admin_site import own_transaction
from tenants.errors import EarmarkError
from tenants.models import Organization


@own_transaction
def new_directory(request: HttpRequest) -> HttpResponse:
    """Make a directory in the one that the address names."""
    with in_own_organizations(request):
        organization = organization_of(request, FILES)
        around = directory_named(request, organization)
        way = placing.way_to(around)
    form = DirectoryForm(request.POST or None)
    if form.is_valid():
        try:
            made = placing.make_directory(
                organization.pk,
                around.pk if around else None,
                form.cleaned_data["name"],
                hand_of(request),
            )
        except EarmarkError as refusal:
            form.add_error("name", _(str(refusal)))
        else:
            messages.success(request, _("Made."))
            return _to(organization, made.pk)
    context = {"organization": organization, "way": way, "form": form}
    with in_own_organizations(request):
        return shown(request, "directory.html", _("New directory"), context)


@own_transaction
def rename(request: HttpRequest, directory_id: UUID) -> HttpResponse:
    """Give a directory another name; selections of it follow."""
    with in_own_organizations(request):
        directory, about = _opened(request, directory_id)
    begun = {"name": directory.name, "seen": placing.seen_place(directory)}
    form = DirectoryForm(request.POST or None, initial=begun)
    if form.is_valid():
        told = form.cleaned_data
        refusal = _filed(request, directory, told["name"], directory.parent_id, told["seen"])
        if not refusal:
            messages.success(
                request, _("Renamed. Searches match the new name from the next one on.")
            )
            return _to(directory.organization, directory.pk)
        form.add_error("name", refusal)
    with in_own_organizations(request):
        title = _("Rename: %s") % directory.name
        return shown(request, "directory.html", title, about | {"form": form})


@own_transaction
def move_directory(request: HttpRequest, directory_id: UUID) -> HttpResponse:
    """Ask where a directory is to lie, and file it there with everything in it."""
    with in_own_organizations(request):
        directory, about = _opened(request, directory_id)
        paths = paths_of(directory.organization_id)
    initial = {"place": str(directory.parent_id or "")}
    form = PlaceForm(paths, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data["place"]
        place = UUID(chosen) if chosen else None
        seen = request.POST.get("seen", "")
        refusal = _filed(request, directory, directory.name, place, seen)
        if not refusal:
            messages.success(request, _("Moved. Agents that have it selected keep it."))
            return _to(directory.organization, directory.pk)
        form.add_error("place", refusal)
    context = about | {"form": form, "seen": placing.seen_place(directory)}
    with in_own_organizations(request):
        return shown(request, "move.html", _("Move: %s") % directory.name, context)


def _filed(
    request: HttpRequest,
    directory: InstructionDirectory,
    name: str,
    parent_id: UUID | None,
    seen: str,
) -> str:
    """File a directory; return the sentence of a refusal, or nothing."""
    try:
        placing.file_elsewhere(
            directory.organization_id,
            directory.pk,
            hand_of(request),
            name=name,
            parent_id=parent_id,
            seen=seen,
        )
    except EarmarkError as refusal:
        return _(str(refusal))
    return ""


@own_transaction
def delete_directory(request: HttpRequest, directory_id: UUID) -> HttpResponse:
    """Ask which way a directory is to go, "up" or "all", and let it go that way."""
    with in_own_organizations(request):
        directory, about = _opened(request, directory_id)
        contents = clearing.contents_of(directory)
    refusal, how = "", request.POST.get("how", "")
    verbs = {"up": clearing.move_everything_up, "all": clearing.delete_everything}
    if how in verbs:
        seen = request.POST.get("seen", "")
        try:
            verbs[how](directory.organization_id, directory.pk, hand_of(request), seen=seen)
        except EarmarkError as error:
            refusal = _(str(error))
        else:
            return _went(request, directory, how)
    elif request.method == "POST":
        refusal = _("Choose what is to become of what is in it.")
    with in_own_organizations(request):
        if refusal:
            directory, about = _opened(request, directory_id)
            contents = clearing.contents_of(directory)
        context = about | {"contents": contents, "refusal": refusal}
        title = _("Delete: %s") % directory.name
        return shown(request, "delete_directory.html", title, context)


def _went(request: HttpRequest, directory: InstructionDirectory, how: str) -> HttpResponse:
    if how == "up":
        messages.success(request, _("Everything moved up; the directory is gone."))
        return _to(directory.organization, directory.parent_id)
    messages.success(request, _("Deleted. You can restore it below, for 30 days."))
    query = urlencode({"organization": directory.organization.slug})
    return redirect(f"{reverse('admin:instruction_deleted')}?{query}")


@own_transaction
def restore_directory(request: HttpRequest, directory_id: UUID) -> HttpResponse:
    """Bring a directory back with everything that went with it."""
    with in_own_organizations(request):
        directory = find_directory(request, directory_id, deleted=True)
        require(request, FILES, directory.organization_id)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    try:
        clearing.bring_directory_back(directory.organization_id, directory.pk, hand_of(request))
    except EarmarkError as refusal:
        messages.error(request, _(str(refusal)))
        query = urlencode({"organization": directory.organization.slug})
        return redirect(f"{reverse('admin:instruction_deleted')}?{query}")
    messages.success(request, _("Restored."))
    return _to(directory.organization, directory.pk)


PAGES = {"rename": rename, "move": move_directory, "delete": delete_directory}


@own_transaction
def decide_directory(request: HttpRequest, directory_id: UUID, name: str) -> HttpResponseBase:
    """Turn to the page of a verb."""
    if name == "restore":
        return restore_directory(request, directory_id)
    if name not in PAGES:
        raise Http404
    return PAGES[name](request, directory_id)


def _opened(
    request: HttpRequest, directory_id: UUID
) -> tuple[InstructionDirectory, dict[str, Any]]:
    directory = find_directory(request, directory_id)
    require(request, FILES, directory.organization_id)
    way = placing.way_to(directory)
    return directory, {
        "directory": directory,
        "organization": directory.organization,
        "way": way,
    }


def _to(organization: Organization, directory_id: UUID | None) -> HttpResponse:
    told = {"organization": organization.slug} | ({"at": str(directory_id)} if directory_id else {})
    return redirect(f"{reverse('admin:instruction_tree')}?{urlencode(told)}")
