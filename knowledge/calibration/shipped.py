"""Vectors of the bank's questions in the local model's space: fitting a corpus need not make them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from knowledge.calibration.bank import LANGUAGES, questions
from knowledge.embedding.protocol import Embedder, SpaceSpec, Vector
from knowledge.text.speech import prepare_for_embedding

FILE: Final = Path(__file__).parent / "bank" / "vectors.npz"
_SECONDS: Final = 600.0


def shipped_vectors(texts: Iterable[str], spec: SpaceSpec) -> dict[str, Vector]:
    """Return the vectors that ship for these questions; none for another space or other words."""
    space, known = _file()
    if space != spec.key:
        return {}
    return {text: known[name] for text in texts if (name := _name(text)) in known}


def write_vectors(embedder: Embedder) -> int:
    """Write the vectors of every question of the bank; return how many there are."""
    texts = [text for language in LANGUAGES for text in questions(language)]
    prepared = [prepare_for_embedding(text) for text in texts]
    vectors = embedder.embed_queries(prepared, deadline_s=_SECONDS)
    np.savez_compressed(
        FILE,
        space=np.array(embedder.space.key),
        names=np.array([_name(text) for text in texts]),
        vectors=np.array(vectors, dtype=np.float16),
    )
    return len(texts)


def _name(text: str) -> str:
    """Name a question by what is embedded of it, so that new rules of preparation make it unknown."""
    return hashlib.sha256(prepare_for_embedding(text).encode()).hexdigest()[:32]


@lru_cache(maxsize=1)
def _file() -> tuple[str, dict[str, Vector]]:
    with np.load(FILE, allow_pickle=False) as file:
        vectors = file["vectors"].astype(np.float32)
        return str(file["space"]), dict(zip(map(str, file["names"]), vectors, strict=True))
