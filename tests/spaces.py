"""Two embedding models behind one server: words fall into as many buckets as the model's name says."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from knowledge.calibration.fitting import fit
from knowledge.embedding.protocol import SpaceSpec
from knowledge.embedding.selection import current_embedder, embedder_of
from knowledge.embedding.spaces import active_space
from knowledge.indexing.converge import Workshop, converge_batch
from knowledge.indexing.draining import due_assets
from knowledge.indexing.filling import Filler
from knowledge.models import EmbeddingSpace, Vector
from knowledge.spaces.creating import Where, create, start_filling
from tenants.models import Organization
from tests.world import BY

SMALL, LARGE = 384, 512


def model(dimensions: int) -> str:
    return f"words-{dimensions}"


def word_vectors(texts: Sequence[str], model: str) -> list[list[float]]:
    """Make vectors as long as the model's name says, so that a server has two models."""
    return [_vector(text, int(model.rpartition("-")[2])) for text in texts]


def _vector(text: str, dimensions: int) -> list[float]:
    counts = np.full(dimensions, 0.01)
    for word in text.casefold().replace(".", " ").replace("?", " ").split():
        digest = hashlib.sha256(f"{dimensions}{word}".encode("utf-8", "replace")).digest()
        counts[int.from_bytes(digest[:4], "big") % dimensions] += 1
    found: list[float] = counts.tolist()
    return found


def wanted(base_url: str, dimensions: int = SMALL) -> dict[str, Any]:
    return {
        "provider": "openai", "model": model(dimensions), "dimensions": dimensions,
        "base_url": base_url, "api_key": "none",
    }  # fmt: skip


def spec(dimensions: int = LARGE) -> SpaceSpec:
    return SpaceSpec(provider="openai", model=model(dimensions), dimensions=dimensions)


def now() -> datetime:
    return datetime.now(tz=UTC)


def searched() -> EmbeddingSpace:
    """Return the space that new searches use."""
    found = active_space()
    assert found is not None
    return found


def index_everything() -> None:
    workshop = Workshop(current_embedder(), now, lambda: True)
    later = now() + timedelta(minutes=5)
    while due := due_assets(at=later, most=64):
        for organization_id, assets in due.items():
            converge_batch(organization_id, assets, workshop)


def second_space(dimensions: int = LARGE) -> EmbeddingSpace:
    space = create(spec(dimensions), Where(), by=BY, at=now())
    start_filling(space, by=BY, at=now())
    space.refresh_from_db()
    return space


def fill() -> int:
    return Filler(now).run(lambda: True)


def calibrate(space: EmbeddingSpace) -> None:
    for organization in Organization.objects.order_by("pk"):
        fit(organization.pk, space, embedder_of(space), at=now())


def lengths() -> dict[int, set[int]]:
    """Return how long the vectors of each space are."""
    found: dict[int, set[int]] = {}
    for space, embedding in Vector.objects.values_list("space_id", "embedding"):
        found.setdefault(space, set()).add(len(embedding))
    return found
