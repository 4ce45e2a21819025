"""What every verb on an instruction shares: the locked row, its draft, its versions, the audit entry.

Nobody overwrites what they have not seen: a verb is told the digest of the text that stood on the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max

from knowledge.editor.errors import InstructionDeleted, InstructionGone, WordingChanged
from knowledge.editor.wording import Wording, wording_of
from knowledge.models import Instruction, InstructionDraft, InstructionStatus, InstructionVersion
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context


@dataclass(frozen=True)
class Hand:
    """Who does it and when."""

    by: Actor
    at: datetime


@dataclass
class Held:
    """A locked instruction and the draft beside it."""

    row: Instruction
    draft: InstructionDraft | None

    @property
    def is_served(self) -> bool:
        """Whether its text is what searches find."""
        return self.row.status == InstructionStatus.PUBLISHED and self.row.deleted_at is None

    @property
    def newest(self) -> Wording:
        """What an editor goes on from."""
        return wording_of(self.draft or self.row)

    @property
    def live(self) -> Wording | None:
        """What is served."""
        return wording_of(self.row) if self.is_served else None

    @property
    def seen(self) -> str:
        """What a page has to show again to change the text."""
        return self.newest.digest

    @property
    def seen_whole(self) -> str:
        """What a page has to show again to decide about the text: both sides of it."""
        return f"{self.live.digest if self.live else '-'}.{self.newest.digest}"


def held(row: Instruction) -> Held:
    """Return an instruction with its draft, as a page shows them.

    Cost: one statement.
    """
    return Held(row, InstructionDraft.objects.filter(instruction=row).first())


@contextmanager
def holding(organization_id: int, pk: UUID, *, deleted: bool = False) -> Iterator[Held]:
    """Lock an instruction for one verb, in a transaction of its own.

    Raises: InstructionGone, InstructionDeleted unless deleted ones are asked for
    """
    with organization_context(organization_id, durable=True):
        rows = Instruction.objects.select_for_update(of=("self",), no_key=True).select_related(
            "directory"
        )
        row = rows.filter(organization_id=organization_id, pk=pk).first()
        if row is None:
            raise InstructionGone
        if row.deleted_at is not None and not deleted:
            raise InstructionDeleted
        yield held(row)


def refuse_unseen(shown: str, now: str) -> None:
    """Refuse to decide about something else than what was shown.

    Raises: WordingChanged
    """
    if shown != now:
        raise WordingChanged


def keep_version(row: Instruction, wording: Wording, hand: Hand) -> int:
    """Keep a text that is or was served; return its number.

    Nothing is kept twice in a row: the number is then that of the last one.
    """
    rows = InstructionVersion.objects.filter(instruction=row)
    last = rows.order_by("-number").first()
    if last is not None and wording_of(last).digest == wording.digest:
        return last.number
    number: int = (rows.aggregate(last=Max("number"))["last"] or 0) + 1
    InstructionVersion.objects.create(
        organization_id=row.organization_id,
        instruction=row,
        number=number,
        created_at=hand.at,
        created_by_id=hand.by.user_id,
        **wording.columns(),
    )
    return number


def tell(
    row: Instruction,
    verb: str,
    hand: Hand,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Write a verb into the audit trail; texts by their digest, their words are in the versions."""
    change = Change(f"instruction.{verb}", "instruction", str(row.pk), before or {}, after or {})
    note(row.organization_id, change, by=hand.by, at=hand.at)
