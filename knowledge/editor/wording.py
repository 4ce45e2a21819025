"""What an instruction says and to whom: one value for what is served, drafted and kept."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from knowledge.editor.errors import WordingRefused
from knowledge.indexing.texts import as_stored
from knowledge.indexing.writing import Gates, Limit
from knowledge.models import Instruction, InstructionDraft, InstructionVersion

NO_GATES: Final = Gates()
Worded = Instruction | InstructionDraft | InstructionVersion


@dataclass(frozen=True)
class Wording:
    """Title, Markdown, language and gates; the directory is filing, not wording."""

    title: str
    body: str
    language: str = ""
    gates: Gates = NO_GATES

    def columns(self) -> dict[str, Any]:
        """Return them as columns of a row, in the characters that are served once it is published."""
        words = {"title": self.title, "body": self.body, "language": self.language}
        return as_stored(words) | self.gates.columns()

    @property
    def digest(self) -> str:
        """A hash of all of it: two wordings are the same exactly when their digests are."""
        columns = {
            name: sorted(map(str, value)) if isinstance(value, list) else value
            for name, value in self.columns().items()
        }
        told = json.dumps(columns, sort_keys=True, default=str)
        return hashlib.sha256(told.encode()).hexdigest()


def wording_of(row: Worded) -> Wording:
    """Return what a row says."""
    gates = Gates(
        visibility=row.visibility,
        channels=Limit(row.channel_restricted, tuple(row.channels)),
        segments=Limit(row.segment_restricted, tuple(row.segments)),
        jurisdictions=Limit(row.jurisdiction_restricted, tuple(row.jurisdictions)),
        valid_from=row.valid_from,
        valid_until=row.valid_until,
    )
    return Wording(row.title, row.body, row.language, gates)


def checked(wording: Wording) -> Wording:
    """Return the wording if it can be kept.

    Raises: WordingRefused, with the reason by field
    """
    fields, columns = {}, wording.columns()
    for name in ("title", "body"):
        if not columns[name].strip():
            fields[name] = _("Must not be blank.")
    start, end = wording.gates.valid_from, wording.gates.valid_until
    if start is not None and end is not None and start >= end:
        fields["valid_until"] = _("Must be after the beginning.")
    if fields:
        raise WordingRefused(fields=fields)
    return wording
