"""What every verb on an answer shares: who acts, the locked row, its draft, and what is written down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max

from golden.content import Content, content_of
from golden.errors import (
    AnswerArchived,
    AnswerChangedMeanwhile,
    AnswerNotThere,
    DraftSaysNothingNew,
    NoDraft,
    ReasonMissing,
    RequestNotOpen,
    RoleMissing,
)
from golden.models import AnswerDraft, AnswerVersion, GoldenAnswer, Publication, PublishRequest
from tenants.access import may
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import User


@dataclass(frozen=True)
class Act:
    """Who does something, when, and why.

    expects  the lock version that was seen; None means whatever is there now.
    noted    what belongs into the audit entry beside it, as the warnings that were seen.
    joins    take part in a transaction of the caller, who keeps something of their own in it.
    """

    by: Actor
    at: datetime
    reason: str = ""
    expects: int | None = None
    noted: dict[str, Any] | None = None
    joins: bool = False


def require(act: Act, role: str, organization_id: int) -> None:
    """Refuse a person without the role; processes of the product have every role.

    Raises: RoleMissing
    """
    if act.by.user_id is None:
        return
    user = User.objects.filter(pk=act.by.user_id).first()
    if not may(user, role, organization_id):
        raise RoleMissing(role=str(role))


def require_reason(act: Act) -> None:
    """Refuse an act without a reason.

    Raises: ReasonMissing
    """
    if not act.reason.strip():
        raise ReasonMissing


@contextmanager
def changing(organization_id: int, golden_id: UUID, act: Act) -> Iterator[GoldenAnswer]:
    """Lock an answer, and save it with a new lock version when the verb is done.

    Raises: AnswerNotThere, AnswerChangedMeanwhile
    """
    with organization_context(organization_id, durable=not act.joins):
        golden = locked(organization_id, golden_id)
        _refuse_stale(golden, act)
        yield golden
        _save(golden, act)


@contextmanager
def deciding(organization_id: int, request_id: UUID, act: Act) -> Iterator[PublishRequest]:
    """Lock the answer of an open request that still stands for its draft.

    Raises: AnswerNotThere, AnswerChangedMeanwhile, RequestNotOpen
    """
    with organization_context(organization_id, durable=not act.joins):
        rows = PublishRequest.objects.filter(organization_id=organization_id, pk=request_id)
        found = rows.first()
        if found is None:
            raise AnswerNotThere
        golden = locked(organization_id, found.golden_id)
        _refuse_stale(golden, act)
        # Read again: it may have been decided while we waited for the answer.
        request = rows.select_related("version").get()
        request.golden = golden
        if request.status != PublishRequest.Status.OPEN or not _still_stands(request):
            raise RequestNotOpen
        yield request
        _save(golden, act)


def locked(organization_id: int, golden_id: UUID) -> GoldenAnswer:
    """Return an answer, locked.

    Raises: AnswerNotThere
    """
    rows = GoldenAnswer.objects.select_related("organization").select_for_update(
        of=("self",), no_key=True
    )
    golden = rows.filter(organization_id=organization_id, pk=golden_id).first()
    if golden is None:
        raise AnswerNotThere
    return golden


def _refuse_stale(golden: GoldenAnswer, act: Act) -> None:
    if act.expects is not None and act.expects != golden.lock_version:
        raise AnswerChangedMeanwhile(lock_version=golden.lock_version)


def _save(golden: GoldenAnswer, act: Act) -> None:
    golden.lock_version += 1
    golden.updated_at = act.at
    golden.save()


def _still_stands(request: PublishRequest) -> bool:
    """Whether the version and the draft are what was requested, to the letter."""
    draft = draft_content(request.golden)
    frozen = content_of(request.version)
    return frozen.hash == request.content_hash and draft is not None and draft.hash == frozen.hash


def refuse_archived(golden: GoldenAnswer) -> None:
    """Refuse to change what is archived.

    Raises: AnswerArchived
    """
    if golden.archived_at is not None:
        raise AnswerArchived


def draft_content(golden: GoldenAnswer) -> Content | None:
    """Return what the draft says, where there is one."""
    draft = AnswerDraft.objects.filter(golden=golden).first()
    return content_of(draft) if draft else None


def write_draft(golden: GoldenAnswer, content: Content, act: Act) -> None:
    """Keep the content as the answer's one draft."""
    changed = {"changed_by_id": act.by.user_id, "changed_at": act.at}
    AnswerDraft.objects.update_or_create(
        golden=golden,
        organization_id=golden.organization_id,
        defaults=content.columns() | changed,
    )


def drop_draft(golden: GoldenAnswer) -> None:
    """Throw the draft away."""
    AnswerDraft.objects.filter(golden=golden).delete()


def freeze(golden: GoldenAnswer, act: Act) -> AnswerVersion:
    """Return the draft as a version that nothing can change any more.

    Raises: NoDraft, DraftSaysNothingNew
    """
    content = draft_content(golden)
    if content is None:
        raise NoDraft
    live = golden.published_version
    if live is not None and live.content_hash == content.hash:
        raise DraftSaysNothingNew
    number = golden.versions.aggregate(last=Max("number"))["last"] or 0
    return AnswerVersion.objects.create(
        organization_id=golden.organization_id,
        golden=golden,
        number=number + 1,
        content_hash=content.hash,
        created_by_id=act.by.user_id,
        created_at=act.at,
        **content.columns(),
    )


def invalidate_requests(golden: GoldenAnswer, act: Act) -> None:
    """Let no open request stand for something that has changed."""
    golden.requests.filter(status=PublishRequest.Status.OPEN).update(
        status=PublishRequest.Status.INVALIDATED, decided_at=act.at
    )


def record(golden: GoldenAnswer, version: AnswerVersion | None, verb: str, act: Act) -> None:
    """Add to the history of what was live."""
    Publication.objects.create(
        organization_id=golden.organization_id, golden=golden, version=version, verb=verb, at=act.at
    )


def tell(
    golden: GoldenAnswer,
    verb: str,
    act: Act,
    *,
    before: Content | None = None,
    after: Content | None = None,
    facts: dict[str, Any] | None = None,
) -> None:
    """Write a verb into the audit trail.

    Contents are named by their hash; their words live in drafts and versions.
    """
    told = _told(after) | (facts or {}) | ({"seen": act.noted} if act.noted else {})
    change = Change(verb, "golden", str(golden.pk), _told(before), told, act.reason)
    note(golden.organization_id, change, by=act.by, at=act.at)


def _told(content: Content | None) -> dict[str, Any]:
    return {} if content is None else {"content": content.hash, "question": content.question}
