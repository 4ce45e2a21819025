"""Deleting what has gone: only in this import's place, only when sure, and never a lot unasked."""

from __future__ import annotations

from functools import partial
from typing import Final
from uuid import UUID

from django.db.models import F

from knowledge.indexing.writing import withdraw
from knowledge.ingestion.errors import PruneRefused, PruneUncertain
from knowledge.ingestion.persistence import persistently
from knowledge.ingestion.running import Import
from knowledge.models import ImportRun
from tenants.isolation import organization_context

BATCH: Final = 100
FEW: Final = 20
MOST: Final = 0.3


def prune(running: Import) -> int:
    """Delete softly what is filed in the import's place and was not found by it; return how many.

    Raises: PruneUncertain, PruneRefused
    """
    if not running.is_certain:
        raise PruneUncertain
    gone, filed = find_gone(running)
    if filed > FEW and len(gone) > MOST * filed and not running.request.prune_anyway:
        raise PruneRefused(
            f"{len(gone)} of {filed} would be deleted as gone, more than {MOST:.0%}:"
            " nothing was deleted. Say --prune-anyway if that is meant."
        )
    return withdraw_gone(running, gone)


def find_gone(running: Import) -> tuple[list[UUID], int]:
    """Return what is filed in the import's place and was not found by it, and how many are filed."""
    with organization_context(running.organization_id):
        filed = list(running.target.filed_here().values_list("pk", "external_id"))
    return [pk for pk, external_id in filed if external_id not in running.present], len(filed)


def withdraw_gone(running: Import, gone: list[UUID]) -> int:
    """Delete these softly, in short transactions; return how many."""
    for start in range(0, len(gone), BATCH):
        persistently(partial(_withdraw, running, gone[start : start + BATCH]))
    return len(gone)


def _withdraw(running: Import, part: list[UUID]) -> None:
    with organization_context(running.organization_id):
        rows = (
            running.target.filed_here()
            .filter(pk__in=part)
            .select_for_update(of=("self",), no_key=True)
        )
        withdrawn = [withdraw(row, at=running.run.started_at) for row in rows.order_by("pk")]
        runs = ImportRun.objects.filter(pk=running.run.pk)
        runs.update(pruned=F("pruned") + len(withdrawn))
