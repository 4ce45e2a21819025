"""Corrections: refinements that staff make from a call; approved, they are searched like any item."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from golden.acting import Act, require, require_reason
from golden.content import LONGEST_QUESTION
from golden.errors import (
    AnswerArchived,
    AnswerChangedMeanwhile,
    AnswerNotArchived,
    AnswerNotThere,
    ApproverIsRequester,
    ContentRefused,
    RequestNotOpen,
)
from golden.models import LONGEST_ANSWER
from knowledge.folders import folder_key
from knowledge.indexing.writing import (
    ItemContent,
    Limit,
    change,
    only,
    withdraw,
    write_item,
)
from knowledge.models import (
    Dataset,
    Item,
    ItemKind,
    ReviewStatus,
    SearchRecord,
    Source,
    SourceKind,
)
from knowledge.reserved import CORRECTIONS
from knowledge.shelving.items import refuse_too_late
from knowledge.text.normalising import clean
from tenants.auditing import Change, note
from tenants.isolation import organization_context
from tenants.models import Organization, Role

SOURCE_SLUG: Final = CORRECTIONS


@dataclass(frozen=True)
class Correction:
    """What should have been said when this was asked, and for which agent; None is for every one."""

    question: str
    text: str
    search_id: UUID | None = None
    agent_id: UUID | None = None


def correct(organization: Organization, correction: Correction, act: Act) -> UUID:
    """Write a correction down; it waits for approval where the organization needs one.

    Raises: RoleMissing, ContentRefused
    """
    require(act, Role.AUTHOR, organization.pk)
    question, text = clean(correction.question).strip(), clean(correction.text).strip()
    _refuse(question, text)
    with organization_context(organization.pk, durable=not act.joins):
        _refuse_unknown(organization.pk, correction)
        waits = organization.approval_required
        written = write_item(_item(organization.pk, correction, question, text, act), at=act.at)
        after = {"question": question, "search": str(correction.search_id or "")}
        _note(organization.pk, written.id, "correction.write", act, after)
        if not waits:
            _review(organization.pk, written.id, ReviewStatus.APPROVED, act)
    return written.id


def _refuse(question: str, text: str) -> None:
    wrong = {}
    if not 0 < len(question) <= LONGEST_QUESTION:
        wrong["question"] = _("Between 1 and %s characters.") % LONGEST_QUESTION
    if not 0 < len(text) <= LONGEST_ANSWER:
        wrong["text"] = _("Between 1 and %s characters.") % LONGEST_ANSWER
    if wrong:
        raise ContentRefused(fields=wrong)


def _refuse_unknown(organization_id: int, correction: Correction) -> None:
    records = SearchRecord.objects.filter(organization_id=organization_id)
    if correction.search_id and not records.filter(pk=correction.search_id).exists():
        raise ContentRefused(fields={"search": _("There is no such search.")})


def _item(
    organization_id: int, correction: Correction, question: str, text: str, act: Act
) -> ItemContent:
    agent = correction.agent_id
    return ItemContent(
        organization_id=organization_id,
        source_id=_source(organization_id).pk,
        external_id=str(uuid.uuid4()),
        title=question,
        body=text,
        folder_key=folder_key(SOURCE_SLUG, ""),
        agents=only(agent) if agent else Limit(restricted=False),
        kind=ItemKind.CORRECTION,
        dataset=Dataset.CORRECTIONS,
        review_status=ReviewStatus.PENDING,
        uploader_id=act.by.user_id,
        source_tag=SOURCE_SLUG,
        metadata={"kind": "correction", "search_id": str(correction.search_id or "")},
    )


def _source(organization_id: int) -> Source:
    source, _made = Source.objects.get_or_create(
        organization_id=organization_id,
        slug=SOURCE_SLUG,
        defaults={"name": "Corrections", "kind": SourceKind.API},
    )
    return source


def approve_correction(organization_id: int, item_id: UUID, act: Act) -> None:
    """Let a correction be searched; not by who wrote it.

    Raises: RoleMissing, AnswerNotThere, AnswerChangedMeanwhile, RequestNotOpen, ApproverIsRequester
    """
    require(act, Role.APPROVER, organization_id)
    with organization_context(organization_id, durable=not act.joins):
        item = _waiting(organization_id, item_id, act)
        if item.uploader_id is not None and item.uploader_id == act.by.user_id:
            raise ApproverIsRequester
        _review(organization_id, item_id, ReviewStatus.APPROVED, act)


def reject_correction(organization_id: int, item_id: UUID, act: Act) -> None:
    """Decline a correction with a reason.

    Raises: RoleMissing, ReasonMissing, AnswerNotThere, AnswerChangedMeanwhile, RequestNotOpen
    """
    require(act, Role.APPROVER, organization_id)
    require_reason(act)
    with organization_context(organization_id, durable=not act.joins):
        _waiting(organization_id, item_id, act)
        _review(organization_id, item_id, ReviewStatus.REJECTED, act)


def withdraw_correction(organization_id: int, item_id: UUID, act: Act) -> None:
    """Take a correction out of every search from the next one on.

    Raises: RoleMissing, AnswerNotThere, AnswerChangedMeanwhile, AnswerArchived
    """
    require(act, Role.PUBLISHER, organization_id)
    with organization_context(organization_id, durable=not act.joins):
        item = _locked(organization_id, item_id, act)
        if item.deleted_at is not None:
            raise AnswerArchived
        withdraw(item, at=act.at)
        _note(organization_id, item_id, "correction.withdraw", act, {"question": item.title})


def restore_correction(organization_id: int, item_id: UUID, act: Act) -> None:
    """Bring a correction back; it waits for approval again where the organization needs one.

    Raises: RoleMissing, AnswerNotThere, AnswerChangedMeanwhile, AnswerNotArchived, RestoreTooLate
    """
    require(act, Role.PUBLISHER, organization_id)
    with organization_context(organization_id, durable=not act.joins):
        item = _locked(organization_id, item_id, act)
        if item.deleted_at is None:
            raise AnswerNotArchived
        refuse_too_late(item.deleted_at, act.at)
        waits = item.organization.approval_required
        status = ReviewStatus.PENDING if waits else ReviewStatus.APPROVED
        change(item, at=act.at, deleted_at=None, review_status=status)
        _note(organization_id, item_id, "correction.restore", act, {"question": item.title})


def _locked(organization_id: int, item_id: UUID, act: Act) -> Item:
    rows = Item.objects.select_related("organization").select_for_update(of=("self",), no_key=True)
    own = rows.filter(organization_id=organization_id, pk=item_id, kind=ItemKind.CORRECTION)
    item = own.first()
    if item is None:
        raise AnswerNotThere
    if act.expects is not None and act.expects != item.lock_version:
        raise AnswerChangedMeanwhile(lock_version=item.lock_version)
    return item


def _waiting(organization_id: int, item_id: UUID, act: Act) -> Item:
    item = _locked(organization_id, item_id, act)
    if item.review_status != ReviewStatus.PENDING or item.deleted_at is not None:
        raise RequestNotOpen
    return item


def _review(organization_id: int, item_id: UUID, status: str, act: Act) -> None:
    item = Item.objects.select_for_update(of=("self",), no_key=True).get(pk=item_id)
    change(item, at=act.at, review_status=status)
    verb = "approve" if status == ReviewStatus.APPROVED else "reject"
    _note(organization_id, item_id, f"correction.{verb}", act, {"question": item.title})


def _note(organization_id: int, item_id: UUID, verb: str, act: Act, after: dict[str, str]) -> None:
    told = Change(verb, "item", str(item_id), {}, dict(after), act.reason)
    note(organization_id, told, by=act.by, at=act.at)
