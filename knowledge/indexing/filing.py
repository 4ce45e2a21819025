"""The verbs that rename and move instruction directories; what is filed in them is matched by their names."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from knowledge.folders import segments
from knowledge.indexing.writing import reread
from knowledge.models import Instruction, InstructionDirectory
from tenants.errors import EarmarkError


class DirectoryRefused(EarmarkError):
    """A directory cannot lie inside itself, and its name is one name."""

    code = "directory_refused"


def file_directory(
    directory: InstructionDirectory, *, name: str, parent: InstructionDirectory | None, at: datetime
) -> int:
    """Give a directory its name and place; return how many instructions are indexed again.

    Raises: DirectoryRefused
    """
    if len(segments(name)) != 1 or _is_inside(parent, directory.pk):
        raise DirectoryRefused
    InstructionDirectory.objects.select_for_update().filter(pk=directory.pk).first()
    directory.name, directory.parent = segments(name)[0], parent
    directory.save()
    rows = Instruction.objects.select_for_update(of=("self",)).filter(
        organization_id=directory.organization_id, directory=directory
    )
    written = [reread(row, at=at) for row in rows.select_related("directory").order_by("pk")]
    return len(written)


def _is_inside(place: InstructionDirectory | None, directory_id: UUID) -> bool:
    while place is not None:
        if place.pk == directory_id:
            return True
        place = place.parent
    return False
