"""The vectors that ship with the demo, so that a first start does not wait for embedding."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np
from django.db import connection

from config.demo import FOLDER
from knowledge.calibration.fitting import fit
from knowledge.embedding.protocol import Embedder
from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.converge import Workshop, budget, converge_batch
from knowledge.indexing.draining import due_assets
from knowledge.indexing.embedded import keep_vectors
from knowledge.models import EmbeddingSpace
from knowledge.passages import CHUNKER_VERSION
from tenants.isolation import organization_context

FILE: Final = FOLDER / "vectors.npz"
_BATCH: Final = 64
_APPLIED: Final = """
SELECT DISTINCT ON (c.text_hash) c.text_hash, v.embedding::real[] FROM knowledge_chunk c
  JOIN knowledge_vector v ON v.organization_id = c.organization_id AND v.chunk_id = c.id
 WHERE c.organization_id = %s AND v.space_id = %s ORDER BY c.text_hash, v.id
"""


def load_vectors(organization_id: int, embedder: Embedder, file: Path = FILE) -> int:
    """Keep the shipped vectors, where they were made by this embedder; return how many fit."""
    space = ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
    if not file.exists():
        return 0
    with np.load(file, allow_pickle=False) as shipped:
        if str(shipped["space"]) != space.key:
            return 0
        vectors = dict(zip(map(str, shipped["hashes"]), shipped["vectors"], strict=True))
    keep_vectors(
        {name: vector.astype(np.float32) for name, vector in vectors.items()},
        organization_id,
        space,
    )
    return len(vectors)


def write_vectors(organization_id: int, space: EmbeddingSpace, file: Path = FILE) -> int:
    """Write the vectors of everything indexed, keyed by content and embedding space."""
    with organization_context(organization_id), connection.cursor() as cursor:
        cursor.execute(_APPLIED, [organization_id, space.pk])
        rows = cursor.fetchall()
    np.savez_compressed(
        file,
        space=np.array(space.key),
        hashes=np.array([name for name, _ in rows]),
        vectors=np.array([vector for _, vector in rows], dtype=np.float16),
    )
    return len(rows)


def index_now(embedder: Embedder, *, at: datetime) -> int:
    """Converge everything that is due; return how many texts had to be embedded."""
    bought = 0
    while due := due_assets(at=at, most=_BATCH):
        for organization_id, assets in due.items():
            bought += converge_batch(
                organization_id, assets, Workshop(embedder, lambda: at, budget())
            ).bought
    return bought


def calibrate(organization_ids: Iterable[int], embedder: Embedder, *, at: datetime) -> None:
    """Measure the corpus once, so that the first search knows it."""
    space = ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
    for organization_id in organization_ids:
        fit(organization_id, space, embedder, at=at)
