"""The embedding space in use, as a row: vectors are only ever compared inside one."""

from __future__ import annotations

from django.db import transaction

from knowledge.embedding.protocol import SpaceSpec
from knowledge.models import EmbeddingSpace


def space_key(spec: SpaceSpec, chunker_version: str) -> str:
    """Return the name of the space that this embedder makes of these passages."""
    return f"{spec.key}:c{chunker_version}"


def active_space() -> EmbeddingSpace | None:
    """Return the space that is searched, or None before anything was ever indexed."""
    return EmbeddingSpace.objects.filter(status=EmbeddingSpace.Status.ACTIVE).first()


def ensure_space(spec: SpaceSpec, *, chunker_version: str) -> EmbeddingSpace:
    """Return the space of the configured embedder, which becomes the active one.

    Cost: one statement once it is there.
    """
    key = space_key(spec, chunker_version)
    active = active_space()
    if active is not None and active.key == key:
        return active
    return _activated(key, spec, chunker_version)


@transaction.atomic
def _activated(key: str, spec: SpaceSpec, chunker_version: str) -> EmbeddingSpace:
    space, _ = EmbeddingSpace.objects.get_or_create(
        key=key,
        defaults={
            "provider": spec.provider,
            "model": spec.model,
            "dimensions": spec.dimensions,
            "chunker_version": chunker_version,
        },
    )
    # Locked in one order, so that two processes that start together agree.
    rows = list(EmbeddingSpace.objects.select_for_update().order_by("pk"))
    for row in rows:
        if row.status == EmbeddingSpace.Status.ACTIVE and row.pk != space.pk:
            row.status = EmbeddingSpace.Status.RETIRED
            row.save(update_fields=["status"])
    space.status = EmbeddingSpace.Status.ACTIVE
    space.save(update_fields=["status"])
    return space
