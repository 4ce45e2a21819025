"""Writing: a draft stands beside what is served, and no search ever finds it."""

from __future__ import annotations

import uuid
from uuid import UUID

from knowledge.editor.errors import InstructionGone, NoInstructionDraft, WordingChanged
from knowledge.editor.holding import Hand, Held, holding, refuse_unseen, tell
from knowledge.editor.placing import directory_at
from knowledge.editor.wording import Wording, checked, wording_of
from knowledge.indexing.writing import InstructionContent, write_instruction
from knowledge.models import Instruction, InstructionDraft, InstructionStatus, InstructionVersion
from tenants.isolation import organization_context


def begin(
    organization_id: int, wording: Wording, hand: Hand, *, directory_id: UUID | None
) -> Instruction:
    """Make an instruction that is not served yet.

    Raises: WordingRefused, DirectoryGone
    """
    checked(wording)
    with organization_context(organization_id, durable=True):
        place = directory_at(organization_id, directory_id, lock=True)
        content = InstructionContent(
            organization_id,
            f"staff-{uuid.uuid4()}",
            wording.title,
            wording.body,
            place.pk if place else None,
            wording.language,
            wording.gates,
            InstructionStatus.DRAFT,
        )
        row = Instruction.objects.get(pk=write_instruction(content, at=hand.at).id)
        tell(row, "begin", hand, after={"title": wording.title})
    return row


def save_draft(
    organization_id: int, pk: UUID, wording: Wording, hand: Hand, *, seen: str
) -> Instruction:
    """Keep a text beside what is served; a draft that says the same as that is none.

    Raises: WordingRefused, InstructionGone, InstructionDeleted, WordingChanged (with both texts)
    """
    checked(wording)
    with holding(organization_id, pk) as it:
        if it.seen != seen:
            raise WordingChanged(yours=wording, theirs=it.newest, seen=it.seen)
        if wording.digest != it.seen:
            _write(it, wording, hand)
            tell(it.row, "save_draft", hand, before=_told(it.newest), after=_told(wording))
    return it.row


def discard_draft(organization_id: int, pk: UUID, hand: Hand, *, seen: str) -> Instruction:
    """Throw the draft away; what is served stays as it is.

    Raises: InstructionGone, InstructionDeleted, NoInstructionDraft, WordingChanged
    """
    with holding(organization_id, pk) as it:
        if it.draft is None:
            raise NoInstructionDraft
        refuse_unseen(seen, it.seen_whole)
        tell(it.row, "discard_draft", hand, before=_told(it.newest))
        it.draft.delete()
    return it.row


def draft_from_version(
    organization_id: int, pk: UUID, number: int, hand: Hand, *, seen: str
) -> Instruction:
    """Make an earlier text the draft; nothing that is served changes.

    Raises: InstructionGone, InstructionDeleted, WordingChanged
    """
    with holding(organization_id, pk) as it:
        version = InstructionVersion.objects.filter(instruction=it.row, number=number).first()
        if version is None:
            raise InstructionGone
        refuse_unseen(seen, it.seen_whole)
        _write(it, wording_of(version), hand)
        tell(it.row, "draft_from_version", hand, after={"version": number})
    return it.row


def _write(it: Held, wording: Wording, hand: Hand) -> None:
    if wording_of(it.row).digest == wording.digest:
        InstructionDraft.objects.filter(instruction=it.row).delete()
        return
    changed = {"changed_at": hand.at, "changed_by_id": hand.by.user_id}
    base = it.draft.base_digest if it.draft else wording_of(it.row).digest
    InstructionDraft.objects.update_or_create(
        instruction=it.row,
        organization_id=it.row.organization_id,
        defaults=wording.columns() | changed | {"base_digest": base},
    )


def _told(wording: Wording) -> dict[str, str]:
    return {"title": wording.title, "text": wording.digest}
