"""What is live: every verb one transaction, audited inside.

The version pointer, the served text and gates, and the lexical row change together; the index
follows after commit and can neither delay, fail nor undo a publish.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from golden.acting import (
    Act,
    changing,
    deciding,
    draft_content,
    drop_draft,
    freeze,
    invalidate_requests,
    record,
    refuse_archived,
    require,
    require_reason,
    tell,
    write_draft,
)
from golden.content import content_of
from golden.errors import (
    AnswerNotArchived,
    ApproverIsRequester,
    NothingPublished,
    VersionNeverPublished,
)
from golden.models import AnswerVersion, GoldenAnswer, PublishRequest
from golden.serving import serve, unserve
from tenants.models import Role


def request_publish(organization_id: int, golden_id: UUID, act: Act) -> PublishRequest:
    """Freeze the draft and ask that it goes live; it does at once where nobody has to approve.

    Raises: RoleMissing, NoDraft, DraftSaysNothingNew, AnswerArchived
    """
    require(act, Role.AUTHOR, organization_id)
    with changing(organization_id, golden_id, act) as golden:
        refuse_archived(golden)
        version = freeze(golden, act)
        invalidate_requests(golden, act)
        request = _open_request(golden, version, act)
        tell(golden, "golden.request_publish", act, after=content_of(version))
        if not golden.organization.approval_required:
            _decide(request, PublishRequest.Status.APPROVED, act)
            _publish(golden, version, "golden.publish", act)
    return request


def approve(organization_id: int, request_id: UUID, act: Act) -> GoldenAnswer:
    """Let what was requested go live, exactly as it was when it was requested.

    Raises: RoleMissing, RequestNotOpen, ApproverIsRequester, AnswerArchived
    """
    require(act, Role.APPROVER, organization_id)
    with deciding(organization_id, request_id, act) as request:
        refuse_archived(request.golden)
        if request.requested_by_id is not None and request.requested_by_id == act.by.user_id:
            raise ApproverIsRequester
        _decide(request, PublishRequest.Status.APPROVED, act)
        _publish(request.golden, request.version, "golden.approve", act)
    return request.golden


def reject(organization_id: int, request_id: UUID, act: Act) -> GoldenAnswer:
    """Decline a request with a reason; draft and live answer stay.

    Raises: RoleMissing, RequestNotOpen, ReasonMissing
    """
    require(act, Role.APPROVER, organization_id)
    require_reason(act)
    with deciding(organization_id, request_id, act) as request:
        _decide(request, PublishRequest.Status.REJECTED, act)
        tell(request.golden, "golden.reject", act, before=content_of(request.version))
    return request.golden


def override_publish(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Publish the draft without approval, with a reason.

    Raises: RoleMissing, ReasonMissing, NoDraft, DraftSaysNothingNew, AnswerArchived
    """
    require(act, Role.PUBLISHER, organization_id)
    require_reason(act)
    with changing(organization_id, golden_id, act) as golden:
        refuse_archived(golden)
        version = freeze(golden, act)
        invalidate_requests(golden, act)
        _publish(golden, version, "golden.override", act)
    return golden


def roll_back(organization_id: int, golden_id: UUID, version_id: UUID, act: Act) -> GoldenAnswer:
    """Make a version live again that was live before; history only grows.

    Raises: RoleMissing, NothingPublished, VersionNeverPublished, AnswerArchived
    """
    require(act, Role.PUBLISHER, organization_id)
    with changing(organization_id, golden_id, act) as golden:
        refuse_archived(golden)
        if golden.published_version_id is None:
            raise NothingPublished
        version = once_live(golden).filter(pk=version_id).first()
        if version is None or version.pk == golden.published_version_id:
            raise VersionNeverPublished
        # Who approves has compared the draft with what was live then.
        invalidate_requests(golden, act)
        _publish(golden, version, "golden.roll_back", act)
    return golden


def archive(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Take an answer out of service and out of the way.

    Raises: RoleMissing, AnswerArchived
    """
    require(act, Role.PUBLISHER, organization_id)
    with changing(organization_id, golden_id, act) as golden:
        refuse_archived(golden)
        live = golden.published_version
        golden.archived_at = act.at
        golden.published_version = None
        invalidate_requests(golden, act)
        unserve(golden, at=act.at)
        record(golden, None, "golden.archive", act)
        tell(golden, "golden.archive", act, before=content_of(live) if live else None)
    return golden


def restore(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Bring an archived answer back as a draft of what was last live.

    Raises: RoleMissing, AnswerNotArchived
    """
    require(act, Role.PUBLISHER, organization_id)
    with changing(organization_id, golden_id, act) as golden:
        if golden.archived_at is None:
            raise AnswerNotArchived
        golden.archived_at = None
        last = last_live(golden)
        if last is not None and draft_content(golden) is None:
            write_draft(golden, content_of(last), act)
        tell(golden, "golden.restore", act, after=draft_content(golden))
    return golden


def once_live(golden: GoldenAnswer) -> QuerySet[AnswerVersion]:
    """Return the versions that were ever live, newest first."""
    return AnswerVersion.objects.filter(golden=golden, publication__isnull=False).distinct()


def last_live(golden: GoldenAnswer) -> AnswerVersion | None:
    """Return what was live last."""
    last = golden.publications.filter(version__isnull=False).select_related("version").first()
    return last.version if last else None


def _open_request(golden: GoldenAnswer, version: AnswerVersion, act: Act) -> PublishRequest:
    return PublishRequest.objects.create(
        organization_id=golden.organization_id,
        golden=golden,
        version=version,
        content_hash=version.content_hash,
        requested_by_id=act.by.user_id,
        requested_at=act.at,
        reason=act.reason,
    )


def _decide(request: PublishRequest, status: str, act: Act) -> None:
    request.status = status
    request.decided_by_id = act.by.user_id
    request.decided_at = act.at
    request.reason = act.reason or request.reason
    request.save()


def _publish(golden: GoldenAnswer, version: AnswerVersion, verb: str, act: Act) -> None:
    """Make a version live: pointer, served text and gates, lexical row, audit, in this transaction."""
    before = golden.published_version
    golden.published_version = version
    golden.verified_at = act.at
    serve(golden, version, at=act.at)
    draft = draft_content(golden)
    if draft is not None and draft.hash == version.content_hash:
        drop_draft(golden)
    record(golden, version, verb, act)
    facts = {"version": version.number}
    old, new = content_of(before) if before else None, content_of(version)
    tell(golden, verb, act, before=old, after=new, facts=facts)
