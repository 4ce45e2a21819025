"""What callers hear: published, taken back, deleted, restored. Each is one transaction.

The served text, its lexical row and its generation change together, so the next search finds it with
every worker stopped; vectors follow.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from knowledge.editor.errors import NothingToPublish
from knowledge.editor.holding import Hand, holding, keep_version, refuse_unseen, tell
from knowledge.indexing.writing import change, restore, withdraw
from knowledge.models import Instruction, InstructionStatus
from knowledge.shelving.errors import RestoreTooLate

RESTORABLE: Final = timedelta(days=30)


def publish(organization_id: int, pk: UUID, hand: Hand, *, seen: str) -> Instruction:
    """Serve the draft from the next search on; what was served before is kept as a version.

    Raises: InstructionGone, InstructionDeleted, NothingToPublish, WordingChanged
    """
    with holding(organization_id, pk) as it:
        if it.live is not None and it.draft is None:
            raise NothingToPublish
        refuse_unseen(seen, it.seen_whole)
        if it.live is not None:
            keep_version(it.row, it.live, hand)
        wording = it.newest
        change(it.row, at=hand.at, **wording.columns(), status=InstructionStatus.PUBLISHED)
        number = keep_version(it.row, wording, hand)
        if it.draft is not None:
            it.draft.delete()
        tell(it.row, "publish", hand, after={"version": number, "text": wording.digest})
    return it.row


def take_back(organization_id: int, pk: UUID, hand: Hand, *, seen: str) -> Instruction:
    """Serve it no longer; text, draft and versions stay.

    Raises: InstructionGone, InstructionDeleted, WordingChanged
    """
    with holding(organization_id, pk) as it:
        refuse_unseen(seen, it.seen_whole)
        if it.live is not None:
            keep_version(it.row, it.live, hand)
            change(it.row, at=hand.at, status=InstructionStatus.DRAFT)
            tell(it.row, "take_back", hand)
    return it.row


def delete(organization_id: int, pk: UUID, hand: Hand) -> Instruction:
    """Delete softly: gone from the next search, restorable for thirty days, picks kept.

    Raises: InstructionGone
    """
    with holding(organization_id, pk, deleted=True) as it:
        if it.row.deleted_at is None:
            withdraw(it.row, at=hand.at)
            tell(it.row, "withdraw", hand)
    return it.row


def bring_back(organization_id: int, pk: UUID, hand: Hand) -> Instruction:
    """Take a deletion back; it lies where it lay, or in the nearest directory that is still there.

    Raises: InstructionGone, RestoreTooLate
    """
    with holding(organization_id, pk, deleted=True) as it:
        if it.row.deleted_at is not None:
            if it.row.deleted_at < hand.at - RESTORABLE:
                raise RestoreTooLate
            restore(it.row, at=hand.at)
            tell(it.row, "restore", hand)
    return it.row
