"""Pages that show: the list, one answer with its versions and history, comparisons, what waits."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from golden.acting import draft_content
from golden.content import content_of
from golden.finding import LABELS, Wanted, answers, counters, standing, title_of
from golden.keeping import due_at
from golden.models import AnswerVersion, AssetKind, GoldenAnswer, PublishRequest
from golden.publishing import once_live
from golden.speaking import hard_to_hear, seconds, spoken
from golden.staff.asking import (
    attach_chips,
    find_answer,
    kind_of,
    organization_of,
    roles_of,
    shown,
)
from golden.staff.corrections import waiting_corrections
from golden.staff.verbs import offered
from golden.telling import Names, audience, compared, history, names_in, seconds_label
from tenants.admin_authority import at_of, organizations_seen
from tenants.admin_lists import CappedPaginator
from tenants.models import Role

PER_PAGE: Final = 50
INDEX: Final = {
    "failed": gettext_lazy("Failed"),
    "retrying": gettext_lazy("Retrying"),
    "pending": gettext_lazy("Updating"),
}


def list_answers(request: HttpRequest) -> HttpResponse:
    """Show the answers of an organization, with filters and counters."""
    organization = organization_of(request)
    wanted = _wanted(request, organization.pk)
    page = CappedPaginator(answers(wanted, at=at_of(request)), PER_PAGE).get_page(
        request.GET.get("page")
    )
    rows = list(page.object_list)
    attach_chips(request, rows)
    for row in rows:
        row.shown_title, row.standing = title_of(row), standing(row, at=at_of(request))
    context = {
        "organization": organization,
        "organizations": organizations_seen(request, Role.VIEWER),
        "wanted": wanted,
        "mine": wanted.owner_id is not None,
        "rows": rows,
        "page": page,
        "statuses": LABELS,
        "indexes": INDEX,
        "counters": counters(organization.pk, at=at_of(request)),
        "roles": roles_of(request, organization.pk),
    }
    title = _("Domain rules") if wanted.kind == AssetKind.RULE else _("Golden answers")
    return shown(request, "list.html", title, context)


def _wanted(request: HttpRequest, organization_id: int) -> Wanted:
    asked = request.GET
    status, index = asked.get("status", ""), asked.get("index", "")
    return Wanted(
        organization_id,
        kind=kind_of(request),
        status=status if status in LABELS else "",
        owner_id=request.user.pk if asked.get("owner") == "me" else None,
        index=index if index in INDEX else "",
        words=asked.get("q", "")[:200],
    )


def show_answer(request: HttpRequest, golden_id: UUID) -> HttpResponse:
    """Show one answer: what is live, the draft beside it, its versions and its history."""
    golden = find_answer(request, golden_id)
    attach_chips(request, [golden])
    names = names_in(golden.organization_id)
    live, draft = golden.published_version, draft_content(golden)
    request_open = golden.requests.filter(status="open").select_related("requested_by").first()
    golden.has_draft, golden.is_requested = draft is not None, request_open is not None  # type: ignore[attr-defined]
    roles = roles_of(request, golden.organization_id)
    context = {
        "golden": golden,
        "standing": standing(golden, at=at_of(request)),
        "live": _told(live, names),
        "draft": _told_draft(draft, names),
        "differences": compared(content_of(live), draft, names) if live and draft else [],
        "open_request": request_open,
        "versions": _versions(golden),
        "history": history(golden),
        "due_at": due_at(golden) if golden.published_version_id else None,
        "verbs": offered(golden, roles, request_open),
        "roles": roles,
    }
    return shown(request, "answer.html", title_of(golden), context)


def _told(version: AnswerVersion | None, names: Names) -> dict[str, Any] | None:
    if version is None:
        return None
    return {"version": version, **_said(content_of(version), names)}


def _told_draft(draft: Any, names: Names) -> dict[str, Any] | None:
    return None if draft is None else _said(draft, names)


def _said(content: Any, names: Names) -> dict[str, Any]:
    return {
        "content": content,
        "sentences": spoken(content.answer),
        "seconds": seconds_label(seconds(content.answer, content.language)),
        "hard": hard_to_hear(content.answer),
        "audience": audience(content, names),
    }


def _versions(golden: GoldenAnswer) -> list[AnswerVersion]:
    once = set(once_live(golden).values_list("pk", flat=True))
    versions = list(golden.versions.select_related("created_by"))
    for version in versions:
        version.was_live = version.pk in once  # type: ignore[attr-defined]
        version.is_live = version.pk == golden.published_version_id  # type: ignore[attr-defined]
    return versions


def compare_versions(request: HttpRequest, golden_id: UUID) -> HttpResponse:
    """Show any two versions of an answer side by side; the draft is a side, too."""
    golden = find_answer(request, golden_id)
    versions = {str(version.number): version for version in golden.versions.all()}
    draft = draft_content(golden)
    sides = {number: content_of(version) for number, version in versions.items()}
    if draft is not None:
        sides["draft"] = draft
    left, right = (request.GET.get(name, "") for name in ("left", "right"))
    if left not in sides or right not in sides:
        raise Http404
    context = {
        "golden": golden,
        "left": left,
        "right": right,
        "sides": list(sides),
        "differences": compared(sides[left], sides[right], names_in(golden.organization_id)),
    }
    return shown(request, "compare.html", _("Compare: %s") % title_of(golden), context)


def review_queue(request: HttpRequest) -> HttpResponse:
    """Show what waits for approval, the oldest first."""
    organization = organization_of(request)
    waiting = PublishRequest.objects.filter(organization=organization, status="open")
    rows = list(
        waiting.select_related("golden__published_version", "version", "requested_by").order_by(
            "requested_at", "id"
        )[:PER_PAGE]
    )
    for row in rows:
        row.address = reverse("admin:golden_decide", args=[row.golden_id, "approve"])  # type: ignore[attr-defined]
        row.is_mine = row.requested_by_id == request.user.pk  # type: ignore[attr-defined]
        row.seconds = seconds_label(seconds(row.version.answer, row.version.language))  # type: ignore[attr-defined]
    roles = roles_of(request, organization.pk)
    context = {
        "organization": organization,
        "rows": rows,
        "corrections": waiting_corrections(organization.pk, roles),
        "roles": roles,
    }
    return shown(request, "queue.html", _("Waiting for approval"), context)
