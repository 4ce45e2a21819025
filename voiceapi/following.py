"""What a search takes over from the searches before it in the same session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db.models import QuerySet

from knowledge.models import SearchRecord
from voiceapi.models import VoiceSession

STAFF: Final = "staff"
_LOOKED_BACK: Final = 5


def mark_adopted(session: VoiceSession, searches: Sequence[str]) -> None:
    """Note which speculative searches were executed after all; ids of others are ignored."""
    if not searches:
        return
    speculative = searches_of(session).filter(speculative=True, adopted=False)
    known = {str(key): key for key in speculative.values_list("id", flat=True)}
    wanted = [known[search] for search in set(searches) & known.keys()]
    if wanted:
        speculative.filter(pk__in=wanted).update(adopted=True)


def pinned_assets(
    session: VoiceSession, follows: str | None, pinned: Sequence[str]
) -> tuple[str, ...]:
    """Return the truth rows behind pinned results, as far as this session was given them lately.

    Whatever else was sent is ignored. Whether a row may still be said is asked again later.
    """
    if not pinned:
        return ()
    given = _given(session, follows)
    return tuple(dict.fromkeys(given[result] for result in pinned if result in given))


def _given(session: VoiceSession, follows: str | None) -> dict[str, str]:
    recent = searches_of(session).order_by("-at", "-id")[:_LOOKED_BACK].values_list("id", "results")
    return {
        result["id"]: result["asset"]
        for search, results in recent
        if follows is None or str(search) == follows
        for result in results
    }


def searches_of(*sessions: VoiceSession) -> QuerySet[SearchRecord]:
    """Return what was asked in these calls; what staff asked again is only forgotten with them."""
    organizations = {session.organization_id for session in sessions}
    return SearchRecord.objects.filter(
        organization_id__in=organizations, session_id__in=[session.pk for session in sessions]
    ).exclude(door=STAFF)
