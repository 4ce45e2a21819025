"""Directories go in one of two ways, and come back for thirty days.

A pick of a deleted directory stays and covers nothing that is served: whoever was restricted to it stays
restricted. What moves up comes under picks of the directory around it, which covered it before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F

from knowledge.editor.errors import DirectoryAroundDeleted, DirectoryChanged
from knowledge.editor.holding import Hand
from knowledge.editor.placing import (
    directories_below,
    directory_at,
    refuse_taken,
    tell_place,
)
from knowledge.editor.publishing import RESTORABLE
from knowledge.editor.wording import wording_of
from knowledge.indexing.bulk import Wanted, write_many
from knowledge.indexing.filing import DirectoryGone, refuse_too_deep
from knowledge.indexing.state import raise_desired_for_all
from knowledge.indexing.writing import InstructionContent
from knowledge.models import Category, Instruction, InstructionDirectory
from knowledge.shelving.errors import RestoreTooLate
from tenants.isolation import organization_context
from tenants.locking import lock_organization


@dataclass(frozen=True)
class Contents:
    """What lies in a directory and below it."""

    directories: tuple[InstructionDirectory, ...]
    instructions: int
    agents: tuple[str, ...]

    @property
    def seen(self) -> str:
        """What a page has to show again to delete it."""
        return f"{len(self.directories)}.{self.instructions}"


def contents_of(directory: InstructionDirectory) -> Contents:
    """Return what would go with a directory, and whose scopes name it or something in it.

    Cost: a statement for each level and two more.
    """
    inside = directories_below(directory.organization_id, directory.pk)
    names = {name for one in inside for name in _agents(one)}
    count = _filed(directory.organization_id, inside).count()
    return Contents(tuple(inside), count, tuple(sorted(names)))


def _agents(directory: InstructionDirectory) -> list[str]:
    # Scopes lie above this package and reach its rows from there.
    picks: Any = getattr(directory, "directorypick_set", None)
    return [] if picks is None else list(picks.values_list("agent__name", flat=True))


def move_everything_up(organization_id: int, pk: UUID, hand: Hand, *, seen: str) -> None:
    """Move what lies right in a directory one level up, and let the directory go.

    Raises: DirectoryGone, DirectoryChanged, DirectoryNameTaken
    """
    with organization_context(organization_id, durable=True):
        directory = _opened(organization_id, pk, seen)
        _delete([directory], hand)
        children = InstructionDirectory.objects.filter(parent=directory)
        refuse_taken(organization_id, directory.parent_id, children.values_list("name", flat=True))
        children.update(parent=directory.parent_id)
        rows = Instruction.objects.select_for_update(of=("self",), no_key=True).filter(
            organization_id=organization_id, directory=directory, deleted_at=None
        )
        lifted = [_lifted(row, directory.parent_id) for row in rows.order_by("pk")]
        write_many(lifted, at=hand.at)
        tell_place(directory, "move_up", hand, after={"name": directory.name})


def _lifted(row: Instruction, directory_id: UUID | None) -> Wanted:
    wording = wording_of(row)
    content = InstructionContent(
        row.organization_id,
        row.external_id,
        wording.title,
        wording.body,
        directory_id,
        wording.language,
        wording.gates,
        row.status,
    )
    return Wanted(content, row)


def delete_everything(organization_id: int, pk: UUID, hand: Hand, *, seen: str) -> int:
    """Delete a directory with everything below it; return how many instructions went.

    Cost: a few statements, however many there are.
    Raises: DirectoryGone, DirectoryChanged
    """
    with organization_context(organization_id, durable=True):
        directory = _opened(organization_id, pk, seen)
        inside = directories_below(organization_id, pk)
        _delete(inside, hand)
        # Whoever filed something in it at this instant was waited for, and it goes along.
        ids = list(_filed(organization_id, inside).values_list("pk", flat=True))
        _put(organization_id, ids, hand, deleted=True)
        after: dict[str, object] = {"name": directory.name, "instructions": len(ids)}
        tell_place(directory, "delete_all", hand, after=after)
    return len(ids)


def bring_directory_back(organization_id: int, pk: UUID, hand: Hand) -> InstructionDirectory:
    """Bring a directory back with everything that went with it; the one around it must be there.

    Raises: DirectoryGone, DirectoryAroundDeleted, DirectoryNameTaken, RestoreTooLate,
            FolderRefused
    """
    with organization_context(organization_id, durable=True):
        lock_organization(organization_id)
        rows = InstructionDirectory.every.filter(organization_id=organization_id)
        directory = rows.filter(pk=pk).exclude(deleted_at=None).first()
        if directory is None or directory.deleted_at is None:
            raise DirectoryGone
        if directory.deleted_at < hand.at - RESTORABLE:
            raise RestoreTooLate
        _refuse_nowhere(directory)
        refuse_taken(organization_id, directory.parent_id, [directory.name])
        _bring_back(directory, hand)
    return directory


def _refuse_nowhere(directory: InstructionDirectory) -> None:
    around = directory.parent
    if around is not None and around.deleted_at is not None:
        raise DirectoryAroundDeleted


def _bring_back(directory: InstructionDirectory, hand: Hand) -> None:
    organization_id, when = directory.organization_id, directory.deleted_at
    rows = InstructionDirectory.every.filter(organization_id=organization_id, deleted_at=when)
    level, ids = [directory.pk], [directory.pk]
    while level:
        level = list(rows.filter(parent__in=level).values_list("pk", flat=True))
        ids += level
    went = Instruction.objects.filter(
        organization_id=organization_id, directory__in=ids, deleted_at=when
    )
    instructions = list(went.values_list("pk", flat=True))
    rows.filter(pk__in=ids).update(deleted_at=None)
    # What is around it may lie deeper now.
    refuse_too_deep(directory, directory.name, directory.parent)
    _put(organization_id, instructions, hand, deleted=False)
    after: dict[str, object] = {"name": directory.name, "instructions": len(instructions)}
    tell_place(directory, "restore", hand, after=after)


def _opened(organization_id: int, pk: UUID, seen: str) -> InstructionDirectory:
    lock_organization(organization_id)
    directory = directory_at(organization_id, pk)
    if directory is None:
        raise DirectoryGone
    if contents_of(directory).seen != seen:
        raise DirectoryChanged
    return directory


def _filed(organization_id: int, places: list[InstructionDirectory]) -> Any:
    return Instruction.objects.filter(
        organization_id=organization_id, directory__in=places, deleted_at=None
    )


def _delete(places: list[InstructionDirectory], hand: Hand) -> None:
    ids = [one.pk for one in places]
    InstructionDirectory.every.filter(pk__in=ids).update(deleted_at=hand.at)


def _put(organization_id: int, ids: list[UUID], hand: Hand, *, deleted: bool) -> None:
    """Delete or restore many; their texts stay, so only the index has to hear of it."""
    rows = Instruction.objects.filter(organization_id=organization_id, pk__in=ids)
    rows.update(
        deleted_at=hand.at if deleted else None,
        lock_version=F("lock_version") + 1,
        updated_at=hand.at,
    )
    raise_desired_for_all(organization_id, Category.INSTRUCTION, ids, at=hand.at)
