"""The gate every vector passes before anyone may store or compare it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from knowledge.embedding.protocol import Vector
from knowledge.errors import EmbeddingRejected, EmbeddingUnavailable

SMALLEST_NORM = 1e-12


def checked(raw: npt.NDArray[np.floating], *, count: int, dimensions: int) -> list[Vector]:
    """Unit vectors, or the reason why these are not vectors of this space.

    Shape: `raw` is (count, dimensions).
    Raises: EmbeddingRejected for another dimension, EmbeddingUnavailable for a wrong count or values that are no numbers.
    """
    if raw.ndim != 2 or raw.shape[0] != count:
        raise EmbeddingUnavailable("The number of vectors differs from the number of texts.")
    if count and raw.shape[1] != dimensions:
        raise EmbeddingRejected(
            f"The vectors have {raw.shape[1]} dimensions, the space has {dimensions}."
        )
    norms = np.linalg.norm(raw.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms < SMALLEST_NORM).any():
        raise EmbeddingUnavailable("A vector is not made of finite numbers, or is zero.")
    return list((raw / norms).astype(np.float32))
