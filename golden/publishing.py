"""The lifecycle of golden answers and rules: every verb one transaction, audited inside.

The version pointer, the served text and gates, and the lexical row change together; the index
follows after commit and can neither delay, fail nor undo a publish.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max

from golden.content import Content, checked, content_of
from golden.errors import (
    AnswerArchived,
    AnswerNotArchived,
    AnswerNotThere,
    ApproverIsRequester,
    DraftChangedMeanwhile,
    DraftSaysNothingNew,
    NoDraft,
    NothingPublished,
    ReasonMissing,
    RequestNotOpen,
    RoleMissing,
    VersionNeverPublished,
)
from golden.models import (
    AnswerDraft,
    AnswerVersion,
    AssetKind,
    GoldenAnswer,
    Publication,
    PublishRequest,
)
from golden.serving import serve, unserve
from tenants.access import may
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import Organization, Role, User


@dataclass(frozen=True)
class Act:
    """Who does something, when, and why."""

    by: Actor
    at: datetime
    reason: str = ""


def create_answer(
    organization: Organization, content: Content, act: Act, *, kind: str = AssetKind.ANSWER
) -> GoldenAnswer:
    """Begin an answer with a draft.

    Raises: RoleMissing, ContentRefused
    """
    _require(act, Role.AUTHOR, organization.pk)
    with organization_context(organization.pk, durable=True):
        content = checked(content, kind, organization.pk)
        golden = GoldenAnswer.objects.create(
            organization=organization, kind=kind, owner_id=act.by.user_id, updated_at=act.at
        )
        _write_draft(golden, content, act)
        _note(golden, "golden.create", act, after=content)
    return golden


def save_draft(
    organization_id: int, golden_id: UUID, content: Content, act: Act, *, lock_version: int
) -> GoldenAnswer:
    """Keep new draft content; an open request no longer stands for it.

    Raises: RoleMissing, ContentRefused, AnswerArchived, DraftChangedMeanwhile (with both texts)
    """
    _require(act, Role.AUTHOR, organization_id)
    with _changing(organization_id, golden_id, act) as golden:
        _refuse_archived(golden)
        if golden.lock_version != lock_version:
            raise DraftChangedMeanwhile(yours=content, theirs=_draft_content(golden))
        content = checked(content, golden.kind, organization_id)
        before = _draft_content(golden)
        _write_draft(golden, content, act)
        _invalidate_requests(golden, act)
        _note(golden, "golden.save_draft", act, before=before, after=content)
    return golden


def discard_draft(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Throw the draft away; what is live stays as it is.

    Raises: RoleMissing, NoDraft
    """
    _require(act, Role.AUTHOR, organization_id)
    with _changing(organization_id, golden_id, act) as golden:
        before = _draft_content(golden)
        if before is None:
            raise NoDraft
        AnswerDraft.objects.filter(golden=golden).delete()
        _invalidate_requests(golden, act)
        _note(golden, "golden.discard_draft", act, before=before)
    return golden


def request_publish(organization_id: int, golden_id: UUID, act: Act) -> PublishRequest:
    """Freeze the draft and ask that it goes live; it does at once where nobody has to approve.

    Raises: RoleMissing, NoDraft, DraftSaysNothingNew, AnswerArchived
    """
    _require(act, Role.AUTHOR, organization_id)
    with _changing(organization_id, golden_id, act) as golden:
        _refuse_archived(golden)
        version = _freeze(golden, act)
        _invalidate_requests(golden, act)
        request = PublishRequest.objects.create(
            organization_id=organization_id,
            golden=golden,
            version=version,
            content_hash=version.content_hash,
            requested_by_id=act.by.user_id,
            requested_at=act.at,
        )
        _note(golden, "golden.request_publish", act, after=content_of(version))
        if not golden.organization.approval_required:
            _decide(request, PublishRequest.Status.APPROVED, act)
            _publish(golden, version, "golden.publish", act)
    return request


def approve(organization_id: int, request_id: UUID, act: Act) -> GoldenAnswer:
    """Let what was requested go live, exactly as it was when it was requested.

    Raises: RoleMissing, RequestNotOpen, ApproverIsRequester, AnswerArchived
    """
    _require(act, Role.APPROVER, organization_id)
    with _deciding(organization_id, request_id, act) as request:
        _refuse_archived(request.golden)
        if request.requested_by_id is not None and request.requested_by_id == act.by.user_id:
            raise ApproverIsRequester
        _decide(request, PublishRequest.Status.APPROVED, act)
        _publish(request.golden, request.version, "golden.approve", act)
    return request.golden


def reject(organization_id: int, request_id: UUID, act: Act) -> GoldenAnswer:
    """Decline a request with a reason; draft and live answer stay.

    Raises: RoleMissing, RequestNotOpen, ReasonMissing
    """
    _require(act, Role.APPROVER, organization_id)
    _require_reason(act)
    with _deciding(organization_id, request_id, act) as request:
        _decide(request, PublishRequest.Status.REJECTED, act)
        _note(request.golden, "golden.reject", act, before=content_of(request.version))
    return request.golden


def override_publish(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Publish the draft without approval, with a reason.

    Raises: RoleMissing, ReasonMissing, NoDraft, DraftSaysNothingNew, AnswerArchived
    """
    _require(act, Role.PUBLISHER, organization_id)
    _require_reason(act)
    with _changing(organization_id, golden_id, act) as golden:
        _refuse_archived(golden)
        version = _freeze(golden, act)
        _invalidate_requests(golden, act)
        _publish(golden, version, "golden.override", act)
    return golden


def roll_back(organization_id: int, golden_id: UUID, version_id: UUID, act: Act) -> GoldenAnswer:
    """Make a version live again that was live before; history only grows.

    Raises: RoleMissing, NothingPublished, VersionNeverPublished, AnswerArchived
    """
    _require(act, Role.PUBLISHER, organization_id)
    with _changing(organization_id, golden_id, act) as golden:
        _refuse_archived(golden)
        if golden.published_version_id is None:
            raise NothingPublished
        version = AnswerVersion.objects.filter(
            golden=golden, pk=version_id, publication__isnull=False
        ).first()
        if version is None or version.pk == golden.published_version_id:
            raise VersionNeverPublished
        _publish(golden, version, "golden.roll_back", act)
    return golden


def archive(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Take an answer out of service and out of the way.

    Raises: RoleMissing, AnswerArchived
    """
    _require(act, Role.PUBLISHER, organization_id)
    with _changing(organization_id, golden_id, act) as golden:
        _refuse_archived(golden)
        live = golden.published_version
        golden.archived_at = act.at
        golden.published_version = None
        _invalidate_requests(golden, act)
        unserve(golden, at=act.at)
        _record(golden, None, "golden.archive", act)
        _note(golden, "golden.archive", act, before=content_of(live) if live else None)
    return golden


def restore(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Bring an archived answer back as a draft of what was last live.

    Raises: RoleMissing, AnswerNotArchived
    """
    _require(act, Role.PUBLISHER, organization_id)
    with _changing(organization_id, golden_id, act) as golden:
        if golden.archived_at is None:
            raise AnswerNotArchived
        golden.archived_at = None
        last = _last_live(golden)
        if last is not None and _draft_content(golden) is None:
            _write_draft(golden, content_of(last), act)
        _note(golden, "golden.restore", act, after=_draft_content(golden))
    return golden


def verify(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Say that what is live still holds; the review interval begins anew.

    Raises: RoleMissing, NothingPublished
    """
    _require(act, Role.AUTHOR, organization_id)
    with _changing(organization_id, golden_id, act) as golden:
        if golden.published_version_id is None:
            raise NothingPublished
        golden.verified_at = act.at
        _note(golden, "golden.verify", act)
    return golden


def _require(act: Act, role: str, organization_id: int) -> None:
    if act.by.user_id is None:
        return
    user = User.objects.filter(pk=act.by.user_id).first()
    if not may(user, role, organization_id):
        raise RoleMissing(role=str(role))


def _require_reason(act: Act) -> None:
    if not act.reason.strip():
        raise ReasonMissing


@contextmanager
def _changing(organization_id: int, golden_id: UUID, act: Act) -> Iterator[GoldenAnswer]:
    """Lock an answer, and save it with a new lock version when the verb is done."""
    with organization_context(organization_id, durable=True):
        golden = _locked(organization_id, golden_id)
        yield golden
        golden.lock_version += 1
        golden.updated_at = act.at
        golden.save()


def _locked(organization_id: int, golden_id: UUID) -> GoldenAnswer:
    rows = GoldenAnswer.objects.select_related("organization").select_for_update(of=("self",))
    golden = rows.filter(organization_id=organization_id, pk=golden_id).first()
    if golden is None:
        raise AnswerNotThere
    return golden


@contextmanager
def _deciding(organization_id: int, request_id: UUID, act: Act) -> Iterator[PublishRequest]:
    with organization_context(organization_id, durable=True):
        found = PublishRequest.objects.filter(
            organization_id=organization_id, pk=request_id
        ).first()
        if found is None:
            raise AnswerNotThere
        golden = _locked(organization_id, found.golden_id)
        request = PublishRequest.objects.select_related("version").get(pk=request_id)
        request.golden = golden
        if request.status != PublishRequest.Status.OPEN or not _still_stands(request):
            raise RequestNotOpen
        yield request
        golden.lock_version += 1
        golden.updated_at = act.at
        golden.save()


def _still_stands(request: PublishRequest) -> bool:
    """Whether the version and the draft are what was requested, to the letter."""
    draft = _draft_content(request.golden)
    frozen = content_of(request.version)
    return frozen.hash == request.content_hash and draft is not None and draft.hash == frozen.hash


def _refuse_archived(golden: GoldenAnswer) -> None:
    if golden.archived_at is not None:
        raise AnswerArchived


def _draft_content(golden: GoldenAnswer) -> Content | None:
    draft = AnswerDraft.objects.filter(golden=golden).first()
    return content_of(draft) if draft else None


def _write_draft(golden: GoldenAnswer, content: Content, act: Act) -> None:
    AnswerDraft.objects.update_or_create(
        golden=golden,
        organization_id=golden.organization_id,
        defaults={
            **content.columns(),
            "changed_by_id": act.by.user_id,
            "changed_at": act.at,
        },
    )


def _freeze(golden: GoldenAnswer, act: Act) -> AnswerVersion:
    content = _draft_content(golden)
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


def _invalidate_requests(golden: GoldenAnswer, act: Act) -> None:
    golden.requests.filter(status=PublishRequest.Status.OPEN).update(
        status=PublishRequest.Status.INVALIDATED, decided_at=act.at
    )


def _decide(request: PublishRequest, status: str, act: Act) -> None:
    request.status = status
    request.decided_by_id = act.by.user_id
    request.decided_at = act.at
    request.reason = act.reason
    request.save()


def _publish(golden: GoldenAnswer, version: AnswerVersion, verb: str, act: Act) -> None:
    """Make a version live: pointer, served text and gates, lexical row, audit, in this transaction."""
    before = golden.published_version
    golden.published_version = version
    golden.verified_at = act.at
    serve(golden, version, at=act.at)
    draft = _draft_content(golden)
    if draft is not None and draft.hash == version.content_hash:
        AnswerDraft.objects.filter(golden=golden).delete()
    _record(golden, version, verb, act)
    _note(
        golden, verb, act, before=content_of(before) if before else None, after=content_of(version)
    )


def _last_live(golden: GoldenAnswer) -> AnswerVersion | None:
    last = golden.publications.filter(version__isnull=False).select_related("version").first()
    return last.version if last else None


def _record(golden: GoldenAnswer, version: AnswerVersion | None, verb: str, act: Act) -> None:
    Publication.objects.create(
        organization_id=golden.organization_id, golden=golden, version=version, verb=verb, at=act.at
    )


def _note(
    golden: GoldenAnswer,
    verb: str,
    act: Act,
    *,
    before: Content | None = None,
    after: Content | None = None,
) -> None:
    change = Change(verb, "golden", str(golden.pk), _told(before), _told(after), act.reason)
    note(golden.organization_id, change, by=act.by, at=act.at)


def _told(content: Content | None) -> dict[str, Any]:
    """Name a content in the audit trail by its hash; its words live in drafts and versions."""
    return {} if content is None else {"content": content.hash, "question": content.question}
