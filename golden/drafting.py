"""Writing an answer: the draft is edited beside what is live and changes nothing that is served."""

from __future__ import annotations

from uuid import UUID

from golden.acting import (
    Act,
    changing,
    draft_content,
    drop_draft,
    invalidate_requests,
    refuse_archived,
    require,
    tell,
    write_draft,
)
from golden.content import Content, checked
from golden.errors import DraftChangedMeanwhile, NoDraft
from golden.models import AssetKind, GoldenAnswer
from tenants.isolation import organization_context
from tenants.models import Organization, Role


def create_answer(
    organization: Organization, content: Content, act: Act, *, kind: str = AssetKind.ANSWER
) -> GoldenAnswer:
    """Begin an answer with a draft.

    Raises: RoleMissing, ContentRefused
    """
    require(act, Role.AUTHOR, organization.pk)
    with organization_context(organization.pk, durable=not act.joins):
        return begin(organization, content, act, kind=kind)


def begin(
    organization: Organization, content: Content, act: Act, *, kind: str = AssetKind.ANSWER
) -> GoldenAnswer:
    """Do the same inside the transaction of a caller who has asked for the role.

    Raises: ContentRefused
    """
    content = checked(content, kind, organization.pk)
    golden = GoldenAnswer.objects.create(
        organization=organization, kind=kind, owner_id=act.by.user_id, updated_at=act.at
    )
    write_draft(golden, content, act)
    tell(golden, "golden.create", act, after=content)
    return golden


def save_draft(
    organization_id: int, golden_id: UUID, content: Content, act: Act, *, lock_version: int
) -> GoldenAnswer:
    """Keep new draft content; an open request no longer stands for it.

    Raises: RoleMissing, ContentRefused, AnswerArchived, DraftChangedMeanwhile (with both texts)
    """
    require(act, Role.AUTHOR, organization_id)
    with changing(organization_id, golden_id, act) as golden:
        refuse_archived(golden)
        if golden.lock_version != lock_version:
            raise DraftChangedMeanwhile(
                yours=content, theirs=draft_content(golden), lock_version=golden.lock_version
            )
        keep(golden, content, act)
    return golden


def keep(golden: GoldenAnswer, content: Content, act: Act) -> None:
    """Keep the draft content of a locked answer.

    Raises: ContentRefused
    """
    content = checked(content, golden.kind, golden.organization_id)
    before = draft_content(golden)
    write_draft(golden, content, act)
    invalidate_requests(golden, act)
    tell(golden, "golden.save_draft", act, before=before, after=content)


def discard_draft(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Throw the draft away; what is live stays as it is.

    Raises: RoleMissing, NoDraft, AnswerArchived
    """
    require(act, Role.AUTHOR, organization_id)
    with changing(organization_id, golden_id, act) as golden:
        refuse_archived(golden)
        before = draft_content(golden)
        if before is None:
            raise NoDraft
        drop_draft(golden)
        invalidate_requests(golden, act)
        tell(golden, "golden.discard_draft", act, before=before)
    return golden
