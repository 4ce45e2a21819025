"""The verbs that rename and move instruction directories; what is filed in them is matched by their names."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from knowledge.folders import directory_path, segments
from knowledge.indexing.writing import reread
from knowledge.models import Instruction, InstructionDirectory
from tenants.errors import EarmarkError
from tenants.locking import lock_organization


class DirectoryRefused(EarmarkError):
    """A directory cannot lie inside itself, and its name is one name."""

    code = "directory_refused"


class DirectoryGone(EarmarkError):
    """There is no such directory."""

    code = "directory_gone"


def file_directory(
    directory: InstructionDirectory, *, name: str, parent: InstructionDirectory | None, at: datetime
) -> int:
    """Give a directory its name and place; return how many instructions are indexed again.

    Raises: DirectoryRefused, DirectoryGone, FolderRefused
    """
    # Two moves could make a circle, so the second looks at what the first has left.
    lock_organization(directory.organization_id)
    _as_it_is(directory)
    parent = _as_it_is(parent) if parent else None
    if len(segments(name)) != 1 or _is_inside(parent, directory.pk):
        raise DirectoryRefused
    refuse_too_deep(directory, segments(name)[0], parent)
    directory.name, directory.parent = segments(name)[0], parent
    directory.save(update_fields=["name", "parent"])
    rows = Instruction.objects.select_for_update(of=("self",), no_key=True).filter(
        organization_id=directory.organization_id, directory=directory
    )
    written = [reread(row, at=at) for row in rows.select_related("directory").order_by("pk")]
    return len(written)


def refuse_too_deep(
    directory: InstructionDirectory, name: str, parent: InstructionDirectory | None
) -> None:
    """Refuse a name and a place by which a path in it or below would be longer than paths may be.

    Cost: one statement for each level.
    Raises: FolderRefused
    """
    above: list[str] = []
    while parent is not None:
        above, parent = [parent.name, *above], parent.parent
    paths = {directory.pk: [*above, name]}
    rows = InstructionDirectory.objects.filter(organization_id=directory.organization_id)
    while paths:
        for path in paths.values():
            directory_path("/".join(path))
        below = rows.filter(parent__in=list(paths))
        paths = {one.pk: [*_around(one, paths), one.name] for one in below}


def _around(directory: InstructionDirectory, paths: Mapping[UUID, list[str]]) -> list[str]:
    assert directory.parent_id is not None
    return paths[directory.parent_id]


def _as_it_is(place: InstructionDirectory) -> InstructionDirectory:
    found = InstructionDirectory.objects.select_for_update(no_key=True).filter(pk=place.pk).first()
    if found is None:
        raise DirectoryGone
    return found


def _is_inside(place: InstructionDirectory | None, directory_id: UUID) -> bool:
    while place is not None:
        if place.pk == directory_id:
            return True
        place = place.parent
    return False
