"""The vectors of canaries, so that the dense leg would find each one of them if a gate were missing.

They are planted, not bought: the queue would never index a draft or what was deleted, and a vector
that is left of such a row is the very thing to look for. All canaries of an organization point in
one direction, so that one question by its vector finds every one that is not kept back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from knowledge.canaries import NAME, Canary, canaries_shown, planting
from knowledge.embedding.protocol import Vector as Direction
from knowledge.embedding.spaces import active_space, filled_spaces, spaces_stay
from knowledge.indexing.assets import chunk_id
from knowledge.models import Chunk, Document, EmbeddingSpace, Vector
from tenants.isolation import organization_context

GENERATION: Final = 1
POSITION: Final = 0


@dataclass(frozen=True)
class Stored:
    """What the dense leg can be asked with: a stored vector, and the canaries that have none."""

    space_id: int
    vector: Direction | None
    lacking: frozenset[UUID]


def plant_vectors(organization_id: int, canaries: Sequence[Canary], *, at: datetime) -> None:
    """Give every canary a vector in each space that is kept filled, where it has none.

    So the minute after a switch is probed like every other. Nothing is embedded.
    Cost: a statement for each space when all are there.
    """
    with organization_context(organization_id), canaries_shown(), spaces_stay():
        planting(organization_id)
        for space in filled_spaces():
            lacking = stored_vector(organization_id, canaries, space).lacking
            found = [canary for canary in canaries if canary.id in lacking]
            if found:
                _make(organization_id, found, space, at=at)


def searched_vector(organization_id: int, canaries: Sequence[Canary]) -> Stored | None:
    """Return what to ask the space with that searches use now; None while none is in use."""
    space = active_space()
    return None if space is None else stored_vector(organization_id, canaries, space)


def stored_vector(
    organization_id: int, canaries: Sequence[Canary], space: EmbeddingSpace
) -> Stored:
    """Return what is stored in a space, as a search would find it."""
    ids = [canary.id for canary in canaries]
    rows = dict(
        Vector.objects.filter(
            organization_id=organization_id,
            space=space,
            asset_id__in=ids,
            generation=GENERATION,
            position=POSITION,
        ).values_list("asset_id", "embedding")
    )
    one = next((rows[pk] for pk in ids if pk in rows), None)
    vector = None if one is None else np.array(one, dtype=np.float32)
    return Stored(space.pk, vector, frozenset(ids) - set(rows))


def direction(organization_id: int, space: EmbeddingSpace) -> Direction:
    """Return the direction of an organization's canaries: by chance, for ever the same, of length 1."""
    named = hashlib.sha256(f"{NAME}:{organization_id}:{space.key}".encode()).digest()
    chance = np.random.default_rng(int.from_bytes(named, "big"))
    drawn = chance.standard_normal(space.dimensions).astype(np.float32)
    unit: Direction = drawn / np.linalg.norm(drawn)
    return unit


def _make(
    organization_id: int, canaries: Sequence[Canary], space: EmbeddingSpace, *, at: datetime
) -> None:
    pointing = direction(organization_id, space)
    Document.objects.bulk_create(
        [_document(organization_id, canary, at=at) for canary in canaries], ignore_conflicts=True
    )
    chunks = [_chunk(organization_id, canary) for canary in canaries]
    Chunk.objects.bulk_create(chunks, ignore_conflicts=True)
    # What is there and is of another generation would never be found.
    Vector.objects.filter(space=space, chunk_id__in=[chunk.pk for chunk in chunks]).delete()
    Vector.objects.bulk_create(
        [
            Vector(
                organization_id=organization_id,
                space=space,
                asset_id=chunk.asset_id,
                generation=GENERATION,
                position=POSITION,
                chunk=chunk,
                embedding=pointing,
            )
            for chunk in chunks
        ],
        ignore_conflicts=True,
    )


def _document(organization_id: int, canary: Canary, *, at: datetime) -> Document:
    return Document(
        id=canary.id,
        organization_id=organization_id,
        key=f"{organization_id}:{NAME}:{canary.id}",
        category=canary.category,
        asset_id=canary.id,
        dataset=NAME,
        generation=GENERATION,
        applied_at=at,
    )


def _chunk(organization_id: int, canary: Canary) -> Chunk:
    # No text has such a hash, so no other text is ever given this vector.
    return Chunk(
        id=chunk_id(organization_id, canary.id, POSITION),
        organization_id=organization_id,
        document_id=canary.id,
        asset_id=canary.id,
        position=POSITION,
        start=0,
        end=0,
        text_hash=f"{NAME} {canary.id}",
    )
