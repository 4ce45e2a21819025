"""Made-up questions, and what brute force finds for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bench.data import SEED, Floats, Made, Numbers, noise, unit

K: Final = 20
VARIANTS: Final = 4
_AWAY: Final = 0.6
_SPREAD: Final = 0.3
# Half precision rounds; what is no further off than this is the same score.
_TIE: Final = 1e-5


@dataclass(frozen=True)
class Asked:
    """A question in four wordings, with the best scores that are allowed.

    Shape: vectors (4, 384) as half precision holds them; best (4, at most K), descending.
    """

    vectors: Floats
    best: tuple[Floats, ...]


def questions(corpus: Made, rows: Numbers, *, on_topic: bool, count: int) -> list[Asked]:
    """Make questions near a passage in the scope, or near any passage of the organization."""
    chance = np.random.default_rng(SEED + on_topic)
    everywhere = corpus.rows(np.flatnonzero(corpus.organizations == 0))
    targets = chance.choice(rows if on_topic else everywhere, count)
    allowed = corpus.vectors[rows].astype(np.float32)
    return [
        _asked(corpus.vectors[target].astype(np.float32), allowed, chance) for target in targets
    ]


def _asked(target: Floats, allowed: Floats, chance: np.random.Generator) -> Asked:
    middle = unit((target + noise(chance, 1, _AWAY)[0])[None])
    wordings = unit(middle + noise(chance, VARIANTS, _SPREAD)).astype(np.float16)
    vectors = wordings.astype(np.float32)
    scores = allowed @ vectors.T
    return Asked(vectors, tuple(-np.sort(-scores[:, i])[:K] for i in range(VARIANTS)))


def recall(found: Floats, best: Floats) -> float:
    """Return the share of the best K that was found; equal scores count alike.

    Shape: found holds the scores of distinct passages.
    """
    lowest = best[-1] - _TIE
    return min(int((found >= lowest).sum()), len(best)) / len(best)
