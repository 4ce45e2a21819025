"""Where instructions lie: found, moved, and the directories that are made, renamed and moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from knowledge.editor.errors import DirectoryChanged, DirectoryNameTaken, InstructionMoved
from knowledge.editor.holding import Hand, holding, tell
from knowledge.folders import directory_path, segments
from knowledge.indexing.filing import DirectoryGone, DirectoryRefused, file_directory
from knowledge.indexing.writing import change
from knowledge.models import Instruction, InstructionDirectory
from tenants.auditing import Change, note
from tenants.isolation import organization_context
from tenants.locking import lock_organization


def directory_at(
    organization_id: int, pk: UUID | None, *, lock: bool = False
) -> InstructionDirectory | None:
    """Return a directory of the organization; None for the top.

    Locked, it cannot be deleted until what is filed in it now is there.
    Raises: DirectoryGone
    """
    if pk is None:
        return None
    rows = InstructionDirectory.objects.filter(organization_id=organization_id, pk=pk)
    rows = rows.select_related("organization")
    found = (rows.select_for_update(of=("self",), no_key=True) if lock else rows).first()
    if found is None:
        raise DirectoryGone
    return found


def live_directories(organization_id: int) -> list[UUID]:
    """Return the ids of every live directory of an organization.

    Cost: one statement.
    """
    rows = InstructionDirectory.objects.filter(organization_id=organization_id)
    return list(rows.values_list("pk", flat=True))


def way_to(directory: InstructionDirectory | None) -> list[InstructionDirectory]:
    """Return the directories down to this one, itself last.

    Cost: one statement for each level.
    """
    way: list[InstructionDirectory] = []
    while directory is not None:
        way.insert(0, directory)
        directory = directory.parent
    return way


def directories_below(organization_id: int, top: UUID) -> list[InstructionDirectory]:
    """Return a directory and every live one below it, from the top down.

    Cost: one statement for each level.
    """
    rows = InstructionDirectory.objects.filter(organization_id=organization_id)
    level = list(rows.filter(pk=top))
    found = list(level)
    while level:
        level = list(rows.filter(parent__in=level).order_by("name", "id"))
        found += level
    return found


def move_instruction(
    organization_id: int,
    pk: UUID,
    directory_id: UUID | None,
    hand: Hand,
    *,
    seen: str | None = None,
) -> Instruction:
    """File an instruction elsewhere; what is picked by itself stays picked.

    `seen` is where a page showed it; None means wherever it lies now.
    Raises: InstructionGone, InstructionDeleted, InstructionMoved, DirectoryGone
    """
    with holding(organization_id, pk) as it:
        if seen is not None and seen != seen_filing(it.row):
            raise InstructionMoved
        place = directory_at(organization_id, directory_id, lock=True)
        if directory_id != it.row.directory_id:
            before = {"directory": str(it.row.directory_id or "")}
            change(it.row, at=hand.at, directory_id=directory_id)
            tell(it.row, "move", hand, before=before, after={"directory": str(directory_id or "")})
    it.row.directory = place
    return it.row


def seen_filing(row: Instruction) -> str:
    """Return what a page has to show again to file an instruction elsewhere."""
    return f"in {row.directory_id or 'none'}"


def make_directory(
    organization_id: int, parent_id: UUID | None, name: str, hand: Hand
) -> InstructionDirectory:
    """Make a directory.

    Raises: DirectoryGone, DirectoryRefused, DirectoryNameTaken, FolderRefused
    """
    with organization_context(organization_id, durable=True):
        lock_organization(organization_id)
        parent = directory_at(organization_id, parent_id)
        name = _one_name(name)
        refuse_taken(organization_id, parent_id, [name])
        directory_path("/".join([*(one.name for one in way_to(parent)), name]))
        made = InstructionDirectory.objects.create(
            organization_id=organization_id, parent=parent, name=name
        )
        tell_place(made, "add", hand, after={"name": name})
    return made


def file_elsewhere(
    organization_id: int,
    pk: UUID,
    hand: Hand,
    *,
    name: str,
    parent_id: UUID | None,
    seen: str,
) -> InstructionDirectory:
    """Give a directory its name and its place; picks of it follow, because they name the row.

    Raises: DirectoryGone, DirectoryRefused, DirectoryNameTaken, DirectoryChanged, FolderRefused
    """
    with organization_context(organization_id, durable=True):
        lock_organization(organization_id)
        directory, parent = _theirs(organization_id, pk), directory_at(organization_id, parent_id)
        before = {"name": directory.name, "parent": str(directory.parent_id or "")}
        if seen != seen_place(directory):
            raise DirectoryChanged
        name = _one_name(name)
        refuse_taken(organization_id, parent_id, [name], but=pk)
        if any(one.pk == pk for one in way_to(parent)):
            raise DirectoryRefused
        file_directory(directory, name=name, parent=parent, at=hand.at)
        after = {"name": name, "parent": str(parent_id or "")}
        tell_place(directory, "change", hand, before=before, after=after)
    return directory


def seen_place(directory: InstructionDirectory) -> str:
    """Return what a page has to show again to change a directory."""
    return f"{directory.parent_id or ''}/{directory.name}"


def refuse_taken(
    organization_id: int, parent_id: UUID | None, names: Iterable[str], *, but: UUID | None = None
) -> None:
    """Refuse names that directories in a place have already.

    Raises: DirectoryNameTaken
    """
    rows = InstructionDirectory.objects.filter(organization_id=organization_id, parent=parent_id)
    if but is not None:
        rows = rows.exclude(pk=but)
    taken = rows.filter(name__in=list(names)).values_list("name", flat=True)
    if taken:
        raise DirectoryNameTaken(names=sorted(taken))


def tell_place(
    directory: InstructionDirectory,
    verb: str,
    hand: Hand,
    *,
    before: dict[str, str] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    """Write a verb on a directory into the audit trail."""
    change = Change(
        f"directory.{verb}", "directory", str(directory.pk), dict(before or {}), dict(after or {})
    )
    note(directory.organization_id, change, by=hand.by, at=hand.at)


def _theirs(organization_id: int, pk: UUID) -> InstructionDirectory:
    found = directory_at(organization_id, pk)
    assert found is not None
    return found


def _one_name(name: str) -> str:
    parts = segments(name)
    if len(parts) != 1:
        raise DirectoryRefused
    return parts[0]
