"""Embedding spaces as rows: which one is searched, and which ones are kept filled.

Vectors are only ever compared inside one. Nothing but a switch makes another space the active one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db import connection, transaction

from knowledge.embedding.protocol import SpaceSpec
from knowledge.errors import KnowledgeError
from knowledge.models import EmbeddingSpace, Vector
from knowledge.tables.canaries import FIRST, LAST

Status = EmbeddingSpace.Status
# What a change of a truth row is brought into.
FILLED: Final = (Status.ACTIVE, Status.FILLING, Status.KEPT)
_LOCK: Final = "SELECT pg_advisory_xact_lock{shared}(hashtext('embedding spaces'))"


class SpaceNotInUse(KnowledgeError):
    """The settings name a model whose embedding space is not in use: `manage.py embedding-space` changes it."""

    code = "space_not_in_use"


def space_key(spec: SpaceSpec, chunker_version: str) -> str:
    """Return the name of the space that this embedder makes of these passages."""
    return f"{spec.key}:c{chunker_version}"


def spec_of(space: EmbeddingSpace) -> SpaceSpec:
    """Return what decides whether two vectors may be compared, from its row."""
    return SpaceSpec(
        provider=space.provider,
        model=space.model,
        dimensions=space.dimensions,
        query_prefix=space.query_prefix,
        passage_prefix=space.passage_prefix,
    )


def is_of(space: EmbeddingSpace, spec: SpaceSpec | None) -> bool:
    """Whether an embedder of this kind makes the vectors of a space."""
    return spec is not None and space_key(spec, space.chunker_version) == space.key


def active_space() -> EmbeddingSpace | None:
    """Return the space that new searches use, or None before anything was ever indexed."""
    return EmbeddingSpace.objects.filter(status=Status.ACTIVE).first()


def searched_space(key: str) -> EmbeddingSpace | None:
    """Return the space that a question was embedded for, as long as it is kept filled.

    A search that began before a switch ends in the space that it began with.
    """
    return EmbeddingSpace.objects.filter(key=key, status__in=FILLED).first()


def filled_spaces() -> list[EmbeddingSpace]:
    """Return every space that is kept filled, the active one first."""
    found = EmbeddingSpace.objects.filter(status__in=FILLED).order_by("pk")
    return sorted(found, key=lambda space: space.status != Status.ACTIVE)


@contextmanager
def spaces_stay() -> Iterator[None]:
    """Keep the set of spaces as it is until the transaction ends; many may do so at once.

    Whoever writes vectors does, so that a space is never switched to between a change and its gaps.
    """
    _lock("_shared")
    yield


@contextmanager
def spaces_change() -> Iterator[None]:
    """Be the only one who reads or changes which spaces there are, until the transaction ends."""
    _lock("")
    yield


def _lock(shared: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_LOCK.format(shared=shared))


def ensure_space(spec: SpaceSpec, *, chunker_version: str) -> EmbeddingSpace:
    """Return the space of an embedder; the first one of an installation becomes the active one.

    Raises: SpaceNotInUse when vectors of another space are searched and this one is not kept filled.
    Cost:   one statement once it is there.
    """
    key = space_key(spec, chunker_version)
    active = active_space()
    if active is not None and active.key == key:
        return active
    if active is not None and is_of(active, spec):
        _cut_anew(chunker_version)
        return EmbeddingSpace.objects.get(key=key)
    kept = searched_space(key)
    if kept is not None:
        return kept
    if active is not None and _holds_content(active):
        raise SpaceNotInUse
    return _activated(key, spec, chunker_version)


def _holds_content(space: EmbeddingSpace) -> bool:
    """Whether something is in a space that was embedded; vectors of canaries are in all of them."""
    found = Vector.objects.filter(space=space)
    return found.exclude(asset_id__range=(FIRST, LAST)).exists()


@transaction.atomic
def _activated(key: str, spec: SpaceSpec, chunker_version: str) -> EmbeddingSpace:
    space, _ = EmbeddingSpace.objects.get_or_create(
        key=key, defaults=columns_of(spec, chunker_version)
    )
    _lock("")
    # Locked in one order, so that two processes that start together agree.
    rows = list(EmbeddingSpace.objects.select_for_update(no_key=True).order_by("pk"))
    for row in rows:
        if row.status == Status.ACTIVE and row.pk != space.pk:
            row.status = Status.RETIRED
            row.save(update_fields=["status"])
            Vector.objects.filter(space=row, asset_id__range=(FIRST, LAST)).delete()
    space.status = Status.ACTIVE
    space.save(update_fields=["status"])
    return space


@transaction.atomic
def _cut_anew(chunker_version: str) -> None:
    """Follow a release that cuts passages otherwise: reconciling replaces them, document by document.

    There is one set of passages; all spaces have vectors of the same ones.
    """
    for space in EmbeddingSpace.objects.select_for_update(no_key=True).filter(status__in=FILLED):
        model, _, _ = space.key.rpartition(":c")
        space.key, space.chunker_version = f"{model}:c{chunker_version}", chunker_version
        space.save(update_fields=["key", "chunker_version"])


def columns_of(spec: SpaceSpec, chunker_version: str) -> dict[str, str | int]:
    """Return what a row says of a space, without the key that names it."""
    return {
        "provider": spec.provider,
        "model": spec.model,
        "dimensions": spec.dimensions,
        "query_prefix": spec.query_prefix,
        "passage_prefix": spec.passage_prefix,
        "chunker_version": chunker_version,
    }
