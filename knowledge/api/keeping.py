"""From what was said to truth rows: pushed by name, changed by version, withdrawn and restored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from knowledge.api.errors import ContentWithdrawn
from knowledge.api.names import Names
from knowledge.api.showing import Truth, content_of_instruction, content_of_item
from knowledge.folders import folder_key
from knowledge.indexing.writing import (
    Gates,
    InstructionContent,
    ItemContent,
    Limit,
    Written,
    change,
    ensure_directory,
    restore,
    withdraw,
    write_instruction,
    write_item,
)
from knowledge.models import Instruction, Item, Source
from knowledge.reserved import is_reserved
from knowledge.shelving.errors import NotOurs
from knowledge.shelving.items import refuse_not_ours, refuse_too_late
from tenants.auditing import Actor, Change, note
from tenants.refusals import InvalidRequest

_LONGEST_TOLD: Final = 200


@dataclass(frozen=True)
class Hand:
    """Who writes, when, and under which names; needs the organization's context open."""

    names: Names
    by: Actor
    at: datetime

    @property
    def organization_id(self) -> int:
        """Whose content it is."""
        return self.names.organization_id

    def push_item(self, source: Source, said: Mapping[str, Any]) -> Written:
        """Make the item or bring it up to date; what is not said stays as it is.

        Raises: ContentWithdrawn, NotOurs, FolderRefused, InvalidRequest
        """
        if is_reserved(source):
            raise NotOurs
        rows = Item.objects.select_for_update(of=("self",), no_key=True).select_related("source")
        named = {"source": source, "external_id": said["external_id"]}
        found = rows.filter(organization_id=self.organization_id, **named).first()
        if found is not None:
            return self.change_item(found, said)
        folder = folder_key(source.slug, "")
        bare = ItemContent(self.organization_id, source.pk, said["external_id"], "", "", folder)
        written = write_item(self._item(bare, source.slug, said), at=self.at)
        self._note("item.push", "item", written, {}, said)
        return written

    def change_item(self, item: Item, said: Mapping[str, Any]) -> Written:
        """Change what is said of a locked item.

        Raises: ContentWithdrawn, NotOurs, FolderRefused, InvalidRequest
        """
        _refuse_unchangeable(item)
        before = content_of_item(item, self.names)
        content = self._item(_as_content(item), item.source.slug, said)
        written = change(item, at=self.at, **content.columns())
        self._note("item.change", "item", written, before, content_of_item(item, self.names))
        return written

    def push_instruction(self, said: Mapping[str, Any]) -> Written:
        """Make the instruction or bring it up to date; what is not said stays as it is.

        Raises: ContentWithdrawn, FolderRefused, InvalidRequest
        """
        rows = Instruction.objects.select_for_update(of=("self",), no_key=True).select_related(
            "directory"
        )
        named = {"external_id": said["external_id"]}
        found = rows.filter(organization_id=self.organization_id, **named).first()
        if found is not None:
            return self.change_instruction(found, said)
        bare = InstructionContent(self.organization_id, said["external_id"], "", "")
        written = write_instruction(self._instruction(bare, said), at=self.at)
        self._note("instruction.push", "instruction", written, {}, said)
        return written

    def change_instruction(self, row: Instruction, said: Mapping[str, Any]) -> Written:
        """Change what is said of a locked instruction.

        Raises: ContentWithdrawn, FolderRefused, InvalidRequest
        """
        _refuse_unchangeable(row)
        before = content_of_instruction(row, self.names)
        content = self._instruction(_as_instruction(row), said)
        written = change(row, at=self.at, **content.columns())
        after = content_of_instruction(row, Names(self.organization_id))
        self._note("instruction.change", "instruction", written, before, after)
        return written

    def withdraw(self, row: Truth) -> Written:
        """Delete a locked row softly; a second time changes nothing.

        Raises: NotOurs
        """
        _refuse_not_ours(row)
        return self._put(row, "withdraw") if row.deleted_at is None else _unchanged(row)

    def restore(self, row: Truth) -> Written:
        """Take a deletion back; of what is there it changes nothing.

        Raises: NotOurs, RestoreTooLate
        """
        _refuse_not_ours(row)
        refuse_too_late(row.deleted_at, self.at)
        return self._put(row, "restore") if row.deleted_at is not None else _unchanged(row)

    def _put(self, row: Truth, verb: str) -> Written:
        act = withdraw if verb == "withdraw" else restore
        written = act(row, at=self.at)
        subject = "item" if isinstance(row, Item) else "instruction"
        told = Change(f"{subject}.{verb}", subject, str(row.pk), {}, {})
        note(self.organization_id, told, by=self.by, at=self.at)
        return written

    def _item(self, kept: ItemContent, slug: str, said: Mapping[str, Any]) -> ItemContent:
        columns = {
            name: said[name]
            for name in ("title", "body", "language", "url", "review_status", "metadata")
            if name in said
        }
        if "folder" in said:
            columns["folder_key"] = folder_key(slug, said["folder"])
        if "agents" in said:
            columns["agents"] = self.names.limit(said["agents"], "agents")
        return replace(kept, gates=self._gates(kept.gates, said), **columns)

    def _instruction(self, kept: InstructionContent, said: Mapping[str, Any]) -> InstructionContent:
        columns = {n: said[n] for n in ("title", "body", "language", "status") if n in said}
        if "directory" in said:
            place = ensure_directory(self.organization_id, said["directory"])
            columns["directory_id"] = place.pk if place else None
        return replace(kept, gates=self._gates(kept.gates, said), **columns)

    def _gates(self, kept: Gates, said: Mapping[str, Any]) -> Gates:
        told: dict[str, Any] = {
            name: said[name] for name in ("visibility", "valid_from", "valid_until") if name in said
        }
        for name, known in (("channels", ""), ("segments", "segments"), ("jurisdictions", "")):
            if name in said:
                told[name] = self.names.limit(said[name], known)
        gates = replace(kept, **told)
        start, end = gates.valid_from, gates.valid_until
        if start is not None and end is not None and start >= end:
            raise InvalidRequest(fields={"valid_until": ["Must be after valid_from."]})
        return gates

    def _note(
        self,
        verb: str,
        subject: str,
        written: Written,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
    ) -> None:
        if written.outcome.value == "unchanged":
            return
        names = [name for name in after if before.get(name) != after[name]]
        told = Change(
            verb, subject, str(written.id),
            {name: _told(before[name]) for name in names if name in before},
            {name: _told(after[name]) for name in names},
        )  # fmt: skip
        note(self.organization_id, told, by=self.by, at=self.at)


def _told(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_TOLD:
        return f"{len(value)} characters"
    return value.isoformat() if isinstance(value, datetime) else value


def _unchanged(row: Truth) -> Written:
    return change(row, at=row.updated_at)


def _refuse_not_ours(row: Truth) -> None:
    if isinstance(row, Item):
        refuse_not_ours(row)


def _refuse_unchangeable(row: Truth) -> None:
    _refuse_not_ours(row)
    if row.deleted_at is not None:
        raise ContentWithdrawn


def _gates_of(row: Truth) -> Gates:
    return Gates(
        visibility=row.visibility,
        channels=Limit(row.channel_restricted, tuple(row.channels)),
        segments=Limit(row.segment_restricted, tuple(row.segments)),
        jurisdictions=Limit(row.jurisdiction_restricted, tuple(row.jurisdictions)),
        valid_from=row.valid_from,
        valid_until=row.valid_until,
    )


_KEPT_OF_ITEM: Final = (
    "organization_id", "source_id", "external_id", "title", "body", "folder_key", "language", "url",
    "kind", "dataset", "review_status", "parse_status", "published_version", "leads_until",
    "uploader_id", "source_tag", "metadata",
)  # fmt: skip
_KEPT_OF_INSTRUCTION: Final = (
    "organization_id", "external_id", "title", "body", "directory_id", "language", "status",
)  # fmt: skip


def _as_content(item: Item) -> ItemContent:
    return ItemContent(
        **{name: getattr(item, name) for name in _KEPT_OF_ITEM},
        gates=_gates_of(item),
        agents=Limit(item.agent_restricted, tuple(item.agents)),
        phrasings=tuple(item.phrasings),
    )


def _as_instruction(row: Instruction) -> InstructionContent:
    return InstructionContent(
        **{name: getattr(row, name) for name in _KEPT_OF_INSTRUCTION}, gates=_gates_of(row)
    )
