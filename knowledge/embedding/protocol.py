"""What every embedder promises, whoever computes the vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SpaceSpec:
    """Everything that decides whether two vectors may be compared."""

    provider: str
    model: str
    dimensions: int
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def fingerprint(self) -> str:
        """Hexadecimal digest over all fields."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def key(self) -> str:
        """Short readable name, different for different fingerprints."""
        return f"{self.provider}:{self.model}:{self.dimensions}:{self.fingerprint[:8]}"


class Embedder(Protocol):
    """Turns texts into comparable vectors.

    Shape: one vector per text, in the order of the texts; float32, length `space.dimensions`, L2 norm 1.
    Units: `deadline_s` is seconds from the call.
    Raises: EmbeddingUnavailable, EmbeddingTimeout (both worth a retry), EmbeddingRejected (not).
    """

    @property
    def space(self) -> SpaceSpec:
        """The space all vectors of this embedder live in."""
        ...

    def embed_queries(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what people ask."""
        ...

    def embed_passages(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what is searched."""
        ...

    def token_count(self, texts: Sequence[str]) -> list[int]:
        """Tokens each text costs as a passage, specials and prefix included; never too few."""
        ...
