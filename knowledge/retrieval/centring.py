"""Takes out of a question's vector what all questions of its language have in common; pure.

A small model lays questions of one language near the same few passages, whatever they ask. The mean
of general questions points there; with half of it taken away, what this question asks decides. It
costs nothing: cosines stay exact, each passage's only loses what every question would find in it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from knowledge.embedding.protocol import Vector

ANY_LANGUAGE: Final = "all"
_PACKED: Final = np.dtype("<f2")


def centred(
    vectors: Sequence[Vector], languages: Sequence[str], centres: Mapping[str, Vector]
) -> tuple[Vector, ...]:
    """Return the vectors without their language's centre; as they are where none is known.

    Shape: one language for each vector, as guessed of the question.
    """
    return tuple(
        vector - centre
        if (centre := centres.get(language, centres.get(ANY_LANGUAGE))) is not None
        else vector
        for vector, language in zip(vectors, languages, strict=True)
    )


def centres_of(vectors: Mapping[str, Sequence[Vector]], weight: float) -> dict[str, Vector]:
    """Return what to take away, from the vectors of general questions by language."""
    known = {language: list(found) for language, found in vectors.items() if len(found)}
    everything = [vector for found in known.values() for vector in found]
    named = known | ({ANY_LANGUAGE: everything} if everything else {})
    return {
        name: (weight * np.mean(found, axis=0)).astype(np.float32) for name, found in named.items()
    }


def level_of(vectors: Sequence[Vector], middle: Vector | None) -> float:
    """Return the mean share of a corpus's middle in what these vectors find anywhere in it.

    Units: cosine, already weighted; 0 where nothing was measured.
    """
    if middle is None or not vectors:
        return 0.0
    return float(np.mean([vector @ middle for vector in vectors]))


def packed(centres: Mapping[str, Vector]) -> dict[str, str]:
    """Return them as text that a profile can hold."""
    return {name: packed_vector(centre) for name, centre in centres.items()}


def packed_vector(vector: Vector) -> str:
    """Return one vector as text."""
    return base64.b64encode(vector.astype(_PACKED).tobytes()).decode("ascii")


def unpacked(parameters: Mapping[str, Any]) -> dict[str, Vector]:
    """Return the centres that a profile's figures were measured with."""
    return {name: _vector(text) for name, text in parameters.get("centres", {}).items()}


def middle_of(parameters: Mapping[str, Any]) -> Vector | None:
    """Return the weighted mean of the corpus's passages that a profile's figures were measured with."""
    text = parameters.get("middle")
    return None if text is None else _vector(text)


def _vector(text: str) -> Vector:
    return np.frombuffer(base64.b64decode(text), dtype=_PACKED).astype(np.float32)
