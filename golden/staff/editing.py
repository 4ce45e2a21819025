"""The editor: a draft is written, previewed and saved; a stale one is shown beside the newer text."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from golden.acting import draft_content
from golden.content import Content, content_of
from golden.drafting import create_answer, save_draft
from golden.errors import AnswerArchived, ContentRefused, DraftChangedMeanwhile
from golden.finding import title_of
from golden.models import AssetKind, GoldenAnswer
from golden.speaking import hard_to_hear, seconds, spoken
from golden.staff.asking import (
    act_of,
    find_answer,
    in_own_organizations,
    kind_of,
    organization_of,
    require_role,
    shown,
)
from golden.staff.forms import ContentForm, written
from golden.telling import audience, compared, names_in, seconds_label
from tenants.admin_site import own_transaction
from tenants.models import Organization, Role


@own_transaction
def new_answer(request: HttpRequest) -> HttpResponse:
    """Write a new answer or rule; the address may bring a question and paraphrases along."""
    with in_own_organizations(request):
        organization = organization_of(request, Role.AUTHOR)
        kind = kind_of(request)
        brought = {name: request.GET.get(name, "") for name in ("question", "paraphrases")}
        form = ContentForm(organization.pk, request.POST or None, initial=brought)
        if not form.is_valid() or "preview" in request.POST:
            return _new_page(request, organization, form, kind)
    try:
        made = create_answer(organization, form.content(), act_of(request), kind=kind)
    except ContentRefused as refusal:
        form.refuse(refusal.data["fields"])
        with in_own_organizations(request):
            return _new_page(request, organization, form, kind)
    messages.success(request, _("Saved as a draft. Callers do not hear it yet."))
    return HttpResponseRedirect(reverse("admin:golden_answer", args=[made.pk]))


def _new_page(
    request: HttpRequest, organization: Organization, form: ContentForm, kind: str
) -> HttpResponse:
    context = {"form": form, "organization": organization, "kind": kind}
    title = _("New domain rule") if kind == AssetKind.RULE else _("New golden answer")
    preview = _preview(form, organization.pk)
    return shown(request, "form.html", title, context | preview)


@own_transaction
def edit_answer(request: HttpRequest, golden_id: UUID) -> HttpResponse:
    """Change the draft; the first change of a live answer begins one."""
    with in_own_organizations(request):
        golden = find_answer(request, golden_id)
        require_role(request, Role.AUTHOR, golden.organization_id)
        form = ContentForm(golden.organization_id, request.POST or None, initial=_begin(golden))
        if not form.is_valid() or "preview" in request.POST:
            return _edit_page(request, golden, form)
    lock_version = form.cleaned_data["lock_version"]
    seen = -1 if lock_version is None else lock_version
    try:
        save_draft(
            golden.organization_id, golden.pk, form.content(), act_of(request), lock_version=seen
        )
    except DraftChangedMeanwhile as conflict:
        return _conflict(request, golden_id, conflict)
    except (ContentRefused, AnswerArchived) as refusal:
        form.refuse(refusal.data.get("fields", {"": _(str(refusal))}))
        with in_own_organizations(request):
            return _edit_page(request, golden, form)
    messages.success(request, _("Saved. What callers hear has not changed."))
    return HttpResponseRedirect(reverse("admin:golden_answer", args=[golden.pk]))


def _begin(golden: GoldenAnswer) -> dict[str, Any]:
    live = golden.published_version
    content = draft_content(golden) or (content_of(live) if live else None)
    begun = written(content) if content else {}
    return begun | {"lock_version": golden.lock_version}


def _edit_page(request: HttpRequest, golden: GoldenAnswer, form: ContentForm) -> HttpResponse:
    context = {"form": form, "golden": golden, "kind": golden.kind}
    preview = _preview(form, golden.organization_id)
    return shown(request, "form.html", _("Edit: %s") % title_of(golden), context | preview)


def _conflict(
    request: HttpRequest, golden_id: UUID, conflict: DraftChangedMeanwhile
) -> HttpResponse:
    """Show both texts; what was written stays in the form and can be saved over the newer one."""
    yours: Content = conflict.data["yours"]
    theirs: Content | None = conflict.data["theirs"]
    with in_own_organizations(request):
        golden = find_answer(request, golden_id)
        live = golden.published_version
        newest = theirs or (content_of(live) if live else None)
        begun = written(yours) | {"lock_version": conflict.data["lock_version"]}
        form = ContentForm(golden.organization_id, initial=begun)
        context = {
            "form": form,
            "golden": golden,
            "kind": golden.kind,
            "refusal": _(str(conflict)),
            "differences": compared(newest, yours, names_in(golden.organization_id)),
        }
        title = _("Changed meanwhile: %s") % title_of(golden)
        return shown(request, "form.html", title, context, status=409)


def _preview(form: ContentForm, organization_id: int) -> dict[str, Any]:
    if not form.is_bound or not form.is_valid():
        return {}
    content = form.content()
    return {
        "preview": {
            "sentences": spoken(content.answer),
            "seconds": seconds_label(seconds(content.answer, content.language)),
            "hard": hard_to_hear(content.answer),
            "audience": audience(content, names_in(organization_id)),
        }
    }
