"""Beginning an import: its source, its target and its record."""

from __future__ import annotations

import re
from typing import Final

from knowledge.folders import folder_key
from knowledge.ingestion.errors import NOT_IMPORTED, ImportRefused
from knowledge.ingestion.recording import open_run
from knowledge.ingestion.remembering import memory_of
from knowledge.ingestion.request import Clock, ImportRequest
from knowledge.ingestion.running import Import
from knowledge.ingestion.targets import InstructionTarget, ItemTarget, Target
from knowledge.models import Source, SourceKind
from knowledge.reserved import RESERVED, is_reserved
from tenants.isolation import organization_context
from tenants.models import Segment

SLUG: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}")


def open_import(request: ImportRequest, *, clock: Clock) -> Import:
    """Return the import, recorded as running; its source is made where it is missing.

    Raises: ImportRefused, FolderRefused
    """
    if not SLUG.fullmatch(request.source):
        raise ImportRefused("A source's name is letters, digits and dashes, in lower case.")
    folder_key(request.source, request.folder)
    with organization_context(request.organization_id):
        source = None if request.instructions else _source(request)
        target = target_of(request, source)
        run = open_run(request, source, at=clock())
        memory = memory_of(request, source) if source else None
    return Import(request, target, run, clock, memory=memory)


def _source(request: ImportRequest) -> Source:
    if request.source in RESERVED:
        raise ImportRefused(NOT_IMPORTED)
    source, _ = Source.objects.get_or_create(
        organization_id=request.organization_id,
        slug=request.source,
        defaults={"name": _name(request.source), "kind": SourceKind.FOLDER},
    )
    if is_reserved(source):
        raise ImportRefused(NOT_IMPORTED)
    return source


def _name(slug: str) -> str:
    words = slug.replace("-", " ").replace("_", " ")
    return words[:1].upper() + words[1:]


def target_of(request: ImportRequest, source: Source | None) -> Target:
    """Return where the rows of an import go; needs the context open."""
    found = Segment.objects.filter(organization_id=request.organization_id)
    segments = dict(found.values_list("slug", "pk"))
    if source is None:
        return InstructionTarget(request, segments)
    return ItemTarget(request, source, segments)
