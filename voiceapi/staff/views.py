"""The page "What did this call hear?": a GET form that works without a script."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from knowledge.models import SearchRecord
from tenants.admin_authority import at_of, authority_of
from tenants.admin_site import our_site, own_transaction
from tenants.isolation import organization_context
from tenants.models import Role
from voiceapi.following import searches_of
from voiceapi.models import VoiceSession
from voiceapi.staff.hearing import Replay, find_search, heard, replay

_WHENS: Final = ("now", "then")


@own_transaction
def what_it_heard(request: HttpRequest, session_id: UUID) -> HttpResponse:
    """Show a call's searches; on request ask one of them again, outside any transaction."""
    seen = authority_of(request).organizations(Role.VIEWER)
    with organization_context(*seen):
        session = _session(seen, session_id)
        searches = heard(session)
        again = _again(request, session)
    context = {
        **our_site().each_context(request),
        "title": _("What did this call hear?"),
        "session": session,
        "searches": searches,
        "replay": _replayed(request, session, again),
        "retention_days": session.organization.retention_days,
        "may_correct": authority_of(request).has(Role.AUTHOR, session.organization_id),
    }
    return TemplateResponse(request, "voiceapi/heard.html", context)


def _session(seen: list[int], session_id: UUID) -> VoiceSession:
    found = (
        VoiceSession.objects.select_related("organization", "agent__organization", "contact")
        .filter(pk=session_id, organization_id__in=seen)
        .first()
    )
    if found is None:
        raise Http404
    return found


def _again(request: HttpRequest, session: VoiceSession) -> SearchRecord | None:
    wanted = request.GET.get("search")
    if wanted is None:
        return None
    try:
        record = find_search(session, UUID(wanted))
    except ValueError:
        record = None
    if record is None or request.GET.get("when") not in _WHENS:
        raise Http404
    return record


def _replayed(
    request: HttpRequest, session: VoiceSession, record: SearchRecord | None
) -> Replay | None:
    if record is None:
        return None
    at = record.at if request.GET["when"] == "then" else at_of(request)
    return replay(session, record, at=at)


def count_searches(sessions: list[Any]) -> dict[UUID, int]:
    """Return how many searches each session of a list has.

    Cost: one statement
    """
    counts: dict[UUID, int] = {}
    for session_id in searches_of(*sessions).values_list("session_id", flat=True):
        if session_id is not None:
            counts[session_id] = counts.get(session_id, 0) + 1
    return counts
