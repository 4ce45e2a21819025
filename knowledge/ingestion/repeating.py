"""Doing an import again whose command said what it read: asked for on a page, done by the queue's workers.

What has not changed is not parsed again, so that the files that failed are most of the work.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any
from uuid import UUID

from knowledge.errors import KnowledgeError
from knowledge.ingestion.importing import run_import
from knowledge.ingestion.request import Clock, ImportRequest
from knowledge.models import ImportRun
from tenants.auditing import Actor
from tenants.isolation import organization_context

BY = Actor.process("imports")
_logger = logging.getLogger(__name__)


def want_again(run: ImportRun, *, at: datetime) -> bool:
    """Have an import done again as soon as a process is free; False where nobody knows what it read."""
    wanted = ImportRun.objects.filter(pk=run.pk, request__isnull=False)
    return bool(wanted.update(again_at=at))


def import_again(organization_id: int, *, clock: Clock) -> int:
    """Do again what is wanted; return how many imports that were.

    Cost: one statement when nothing is wanted.
    """
    count = 0
    while (wanted := _taken(organization_id)) is not None:
        request = ImportRequest.from_json(organization_id, wanted, by=BY)
        try:
            run_import(request, clock=clock, watch=lambda _progress: None)
        except KnowledgeError as error:
            # The record of the new import says it to staff; here it must not end the process.
            _logger.warning("import not done again", extra={"code": error.code})
        count += 1
    return count


def _taken(organization_id: int) -> dict[str, Any] | None:
    with organization_context(organization_id):
        pk = _next(organization_id)
        if pk is None:
            return None
        row = ImportRun.objects.select_for_update(of=("self",), skip_locked=True, no_key=True)
        found = row.filter(pk=pk, again_at__isnull=False).first()
        if found is None:
            return None
        found.again_at = None
        found.save(update_fields=["again_at"])
        return found.request or None


def _next(organization_id: int) -> UUID | None:
    rows = ImportRun.objects.filter(organization_id=organization_id, again_at__isnull=False)
    return rows.order_by("again_at", "pk").values_list("pk", flat=True).first()
