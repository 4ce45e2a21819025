"""Directories that nobody can restore any more go for good, unless something is in them or picks them."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from knowledge.editor.publishing import RESTORABLE
from knowledge.models import Instruction, InstructionDirectory
from scopes.models import DirectoryPick
from tenants.isolation import organization_context
from tenants.locking import lock_organization

BATCH: Final = 1_000


def forget_directories(organization_id: int, *, at: datetime) -> int:
    """Remove empty directories that were deleted long ago; those around them go the next time.

    A pick keeps its directory, so that whoever is restricted to it stays restricted.
    """
    with organization_context(organization_id):
        # Nobody files, moves or selects meanwhile.
        lock_organization(organization_id)
        found = list(_empty(organization_id, at - RESTORABLE).values_list("pk", flat=True)[:BATCH])
        InstructionDirectory.every.filter(organization_id=organization_id, pk__in=found).delete()
    return len(found)


def _empty(organization_id: int, before: datetime) -> QuerySet[InstructionDirectory]:
    own = {"organization_id": organization_id}
    rows = InstructionDirectory.every.filter(**own, deleted_at__lt=before)
    for inside in (
        InstructionDirectory.every.filter(**own, parent=OuterRef("pk")),
        Instruction.objects.filter(**own, directory=OuterRef("pk")),
        DirectoryPick.objects.filter(**own, directory=OuterRef("pk")),
    ):
        rows = rows.exclude(Exists(inside))
    return rows.order_by("deleted_at", "pk")
