"""Answers as programs are told of them, and contents as programs say them; names instead of ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from golden.acting import draft_content
from golden.content import Content, content_of
from golden.keeping import is_overdue
from golden.models import AnswerVersion, GoldenAnswer
from knowledge.models import IndexState
from tenants.models import PhoneAgent, Segment
from tenants.refusals import InvalidRequest

_PLAIN = ("question", "answer", "language", "folder", "visibility", "valid_from", "valid_until")


@dataclass(frozen=True)
class Slugs:
    """Segments and agents by the names they have on the wire."""

    segments: Mapping[Any, str]
    agents: Mapping[Any, str]

    def ids(self, field: str, slugs: Sequence[str]) -> tuple[Any, ...]:
        """Return the ids of these names.

        Raises: InvalidRequest
        """
        known = {slug: pk for pk, slug in getattr(self, field).items()}
        unknown = sorted(set(slugs) - set(known))
        if unknown:
            raise InvalidRequest(fields={field: [f"There is no {name}." for name in unknown]})
        return tuple(known[slug] for slug in slugs)


def slugs_of(organization_id: int) -> Slugs:
    """Return the names of an organization's segments and agents.

    Cost: two statements.
    """
    return Slugs(
        dict(Segment.objects.filter(organization_id=organization_id).values_list("pk", "slug")),
        dict(PhoneAgent.objects.filter(organization_id=organization_id).values_list("pk", "slug")),
    )


def content_from(said: Mapping[str, Any], slugs: Slugs) -> Content:
    """Return the content that was said: null is no restriction, a list is one.

    Raises: InvalidRequest
    """
    return Content(
        **{name: said[name] for name in _PLAIN},
        paraphrases=tuple(said["paraphrases"]),
        channel_restricted=said["channels"] is not None,
        channels=tuple(said["channels"] or ()),
        jurisdiction_restricted=said["jurisdictions"] is not None,
        jurisdictions=tuple(said["jurisdictions"] or ()),
        segment_restricted=said["segments"] is not None,
        segments=slugs.ids("segments", said["segments"] or ()),
        agent_restricted=said["agents"] is not None,
        agents=slugs.ids("agents", said["agents"] or ()),
    )


def shown_content(content: Content | None, slugs: Slugs) -> dict[str, Any] | None:
    """Return a content as it is told."""
    if content is None:
        return None
    return {
        **{name: getattr(content, name) for name in _PLAIN},
        "paraphrases": list(content.paraphrases),
        "channels": _names(content.channel_restricted, content.channels),
        "jurisdictions": _names(content.jurisdiction_restricted, content.jurisdictions),
        "segments": _names(content.segment_restricted, _slugs(content.segments, slugs.segments)),
        "agents": _names(content.agent_restricted, _slugs(content.agents, slugs.agents)),
    }


def _names(restricted: bool, values: Iterable[str]) -> list[str] | None:  # noqa: FBT001
    return list(values) if restricted else None


def _slugs(ids: Iterable[Any], known: Mapping[Any, str]) -> list[str]:
    return sorted(known[one] for one in ids if one in known)


def shown_version(version: AnswerVersion, slugs: Slugs, *, was_live: bool) -> dict[str, Any]:
    """Return a version as it is told."""
    return {
        "id": version.pk,
        "number": version.number,
        "was_live": was_live,
        "created_at": version.created_at,
        "content": shown_content(content_of(version), slugs),
    }


def shown_answer(golden: GoldenAnswer, slugs: Slugs, *, at: datetime) -> dict[str, Any]:
    """Return an answer as it is told.

    Cost: three statements.
    """
    live = golden.published_version
    request = golden.requests.filter(status="open").values_list("pk", flat=True).first()
    state = _state(golden)
    return {
        "id": golden.pk,
        "organization": golden.organization.slug,
        "kind": golden.kind,
        "version": golden.lock_version,
        "status": "archived" if golden.archived_at else "live" if live else "draft",
        "live": shown_version(live, slugs, was_live=True) if live else None,
        "draft": shown_content(draft_content(golden), slugs),
        "open_request": request,
        "owner": golden.owner.username if golden.owner else None,
        "review_days": golden.review_days,
        "verified_at": golden.verified_at,
        "overdue": is_overdue(golden, at=at),
        "updated_at": golden.updated_at,
        "generation": state.desired_generation if state else None,
    }


def _state(golden: GoldenAnswer) -> IndexState | None:
    if golden.item_id is None:
        return None
    return IndexState.objects.filter(
        organization_id=golden.organization_id, asset_id=golden.item_id
    ).first()


def shown_sync(golden: GoldenAnswer) -> dict[str, Any] | None:
    """Return how far the index is with an answer; None where there is nothing to index."""
    state = _state(golden)
    if state is None:
        return None
    behind = state.applied_generation < state.desired_generation
    return {
        "generation": state.desired_generation,
        "applied_generation": state.applied_generation,
        "ranked_in_full": not behind and golden.published_version_id is not None,
        "status": state.status,
        "job": state.desired_version,
        "attempts": state.attempts,
        "next_attempt_at": state.next_attempt_at if behind else None,
        "error": state.last_error,
    }
