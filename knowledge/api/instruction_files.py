"""Instructions out as Markdown files and in again, through the same verbs as everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import DataError, IntegrityError, transaction
from rest_framework.exceptions import ValidationError

from knowledge.api.keeping import Hand
from knowledge.api.markdown import file_path, from_markdown, to_markdown
from knowledge.api.names import Names
from knowledge.api.shapes import InstructionRow
from knowledge.api.showing import shown_instruction
from knowledge.ingestion.errors import NotStored
from knowledge.models import Instruction
from tenants.errors import EarmarkError
from tenants.refusals import InvalidRequest
from tenants.wire_fields import flatten, validated


@dataclass(frozen=True)
class FileOutcome:
    """What became of one file."""

    path: str
    outcome: str
    reason: str = ""


def exported(organization_id: int) -> Iterator[tuple[str, str]]:
    """Yield path and text of every live instruction; needs the context open."""
    names = Names(organization_id)
    rows = Instruction.objects.filter(organization_id=organization_id, deleted_at=None)
    for row in rows.order_by("external_id").iterator(chunk_size=200):
        told = shown_instruction(row, names, None)
        yield file_path(told), to_markdown(told)


def imported(hand: Hand, files: Iterable[tuple[str, str]]) -> Iterator[FileOutcome]:
    """Bring files in, each in a savepoint of its own; needs the context open."""
    for path, text in files:
        try:
            with transaction.atomic():
                written = hand.push_instruction(validated(InstructionRow, from_markdown(text)))
        except (EarmarkError, ValidationError, DataError, IntegrityError) as raised:
            yield FileOutcome(path, "refused", _reason(raised))
        else:
            yield FileOutcome(path, written.outcome.value)


def _reason(raised: Exception) -> str:
    if isinstance(raised, DataError | IntegrityError):
        return str(NotStored())
    fields: Any = {}
    if isinstance(raised, ValidationError):
        fields = flatten(raised.detail)
    elif isinstance(raised, InvalidRequest):
        fields = raised.data["fields"]
    told = "; ".join(f"{name}: {' '.join(messages)}" for name, messages in fields.items())
    return told or str(raised)
