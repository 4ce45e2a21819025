"""Make a second embedding space, and start to fill it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction

from knowledge.embedding.protocol import SpaceSpec
from knowledge.embedding.selection import embedder_of
from knowledge.embedding.spaces import FILLED, Status, columns_of, space_key, spaces_change
from knowledge.indexing.gaps import Place, retry_gaps, seed_gaps
from knowledge.models import EmbeddingSpace
from knowledge.passages import CHUNKER_VERSION
from knowledge.spaces.auditing import note_everywhere
from knowledge.spaces.errors import (
    SecondSpaceExists,
    SpaceExists,
    SpaceInUse,
    SpaceNotReady,
    SpaceUnknown,
    TooManyDimensions,
)
from tenants.auditing import Actor
from tenants.models import Organization

# Larger ones do not fit into the index that a search reads.
MOST_DIMENSIONS: Final = 1_024
TRIED_S: Final = 30.0
TRIED: Final = "Where is my order?"


@dataclass(frozen=True)
class Where:
    """Where the model of a space is asked; blank: at OPENAI_BASE_URL."""

    base_url: str = ""
    asks_dimensions: bool = True


def space_named(name: str) -> EmbeddingSpace:
    """Return the space with this key, or the only one whose key begins so.

    Raises: SpaceUnknown
    """
    exact = EmbeddingSpace.objects.filter(key=name).first()
    found = [exact] if exact else list(EmbeddingSpace.objects.filter(key__startswith=name)[:2])
    if len(found) != 1:
        raise SpaceUnknown(f"There is no embedding space {name}, or more than one.")
    return found[0]


def create(spec: SpaceSpec, where: Where, *, by: Actor, at: datetime) -> EmbeddingSpace:
    """Make a space beside the one that is searched; nothing is in it yet.

    Raises: TooManyDimensions, SpaceExists, SecondSpaceExists; EmbeddingMisconfigured or
            EmbeddingFailed when one question cannot be embedded in it.
    Cost:   one call of the embedder.
    """
    if not 0 < spec.dimensions <= MOST_DIMENSIONS:
        raise TooManyDimensions
    made = EmbeddingSpace(
        key=space_key(spec, CHUNKER_VERSION),
        status=Status.CREATED,
        base_url=where.base_url,
        asks_dimensions=where.asks_dimensions,
        **columns_of(spec, CHUNKER_VERSION),
    )
    embedder_of(made).embed_queries([TRIED], deadline_s=TRIED_S)
    with transaction.atomic(), spaces_change():
        _refuse_a_third(made.key)
        EmbeddingSpace.objects.filter(key=made.key, status=Status.RETIRED).delete()
        made.save()
        note_everywhere("space.create", made, {}, by=by, at=at)
    return made


def _refuse_a_third(key: str) -> None:
    there = EmbeddingSpace.objects.exclude(status=Status.RETIRED)
    if there.filter(key=key).exists():
        raise SpaceExists
    if there.exclude(status=Status.ACTIVE).exists():
        raise SecondSpaceExists


def start_filling(space: EmbeddingSpace, *, by: Actor, at: datetime) -> int:
    """Write down everything the space lacks; whoever drains the queue fills it. Again: what is still missing.

    Raises: SpaceInUse, SpaceNotReady
    Cost:   a look-up for each passage, in transactions of 5,000 assets.
    """
    with transaction.atomic(), spaces_change():
        row = EmbeddingSpace.objects.select_for_update(no_key=True).get(pk=space.pk)
        if row.status == Status.ACTIVE:
            raise SpaceInUse("The embedding space is searched; what it lacks is indexed anyway.")
        if row.status == Status.CREATED:
            row.status = Status.FILLING
            row.save(update_fields=["status"])
            note_everywhere("space.fill", row, {}, by=by, at=at)
        elif row.status not in FILLED:
            raise SpaceNotReady
    # From here on every change notes its own gap, so what is counted now is all there is.
    found = sum(
        seed_gaps(Place(number, row), at=at)
        for number in Organization.objects.order_by("pk").values_list("pk", flat=True)
    )
    retry_gaps(row, at=at)
    return found
