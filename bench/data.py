"""A made-up corpus that looks like many organizations' help centres.

Vectors are clustered as real ones are: a thousand topics, an offset for each item in sixteen shared
directions, and noise for each passage. Folders keep to few topics, so that a scope is near some
questions and far from others. Organizations follow Zipf's law; the first one holds 40 %. Folders are
three deep and of very unequal size. About a quarter of the items is closed by one gate or another.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

DIMENSIONS: Final = 384
PASSAGES_PER_ITEM: Final = 10
ORGANIZATIONS: Final = 50
LARGEST_SHARE: Final = 0.4
FOLDERS: Final = 200
TOPICS: Final = 1_000
TOPICS_OF_A_FOLDER: Final = 6
OWN_TOPIC: Final = 0.8
CLOSED: Final = 0.23
LATE: Final = 0.5
VOCABULARY: Final = 30_000
WORDS: Final = 36
SEED: Final = 11
_BEGAN_MS: Final = 1_700_000_000_000

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Halves = npt.NDArray[np.float16]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Made:
    """The corpus as arrays.

    Shape: items by number; the passages of item i are rows 10 i to 10 i + 9 of `vectors`.
    """

    organizations: Numbers
    folders: Numbers
    closed: Numbers
    vectors: Halves

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.organizations)

    @cached_property
    def ids(self) -> list[uuid.UUID]:
        """The items' ids, which ascend with time as the product's do.

        Half came with a first import, one folder after the other; the rest since then, in any order.
        """
        chance = np.random.default_rng(SEED)
        is_late = chance.random(self.items) < LATE
        order = np.lexsort((np.where(is_late, 0, self.folders), is_late, self.organizations))
        ids = np.empty(self.items, dtype=object)
        ids[order] = [_ascending(rank, chance.bytes(8)) for rank in range(self.items)]
        return ids.tolist()

    def rows(self, items: Numbers) -> Numbers:
        """The rows of `vectors` that belong to these items."""
        return (items[:, None] * PASSAGES_PER_ITEM + np.arange(PASSAGES_PER_ITEM)).ravel()


def made(passages: int, *, organizations: int) -> Made:
    """Make a corpus; the same numbers make the same one.

    Cost: 10 s and 2 GB for a million passages.
    """
    chance = np.random.default_rng(SEED)
    items = passages // PASSAGES_PER_ITEM
    owners = chance.choice(organizations, items, p=_shares(organizations))
    folders = chance.choice(FOLDERS, items, p=_folder_shares(chance))
    topics = _topics(chance, owners, folders)
    return Made(
        organizations=owners,
        folders=folders,
        closed=np.where(chance.random(items) < CLOSED, chance.integers(1, 6, items), 0),
        vectors=_vectors(chance, topics),
    )


def _ascending(rank: int, noise: bytes) -> uuid.UUID:
    """Return an id of version 7; one item is written in each millisecond."""
    variant = bytes([0x80 | noise[0] & 0x3F])
    return uuid.UUID(
        bytes=(_BEGAN_MS + rank).to_bytes(6, "big") + b"\x70\x00" + variant + noise[1:]
    )


def _shares(organizations: int) -> Doubles:
    if organizations == 1:
        return np.ones(1)
    tail = 1 / np.arange(2, organizations + 1)
    return np.array([LARGEST_SHARE, *(tail / tail.sum() * (1 - LARGEST_SHARE))])


def _folder_shares(chance: np.random.Generator) -> Doubles:
    sizes: Doubles = chance.pareto(1.2, FOLDERS) + 0.2
    shares: Doubles = sizes / sizes.sum()
    return shares


def _topics(chance: np.random.Generator, owners: Numbers, folders: Numbers) -> Numbers:
    of_folder = chance.integers(0, TOPICS, (owners.max() + 1, FOLDERS, TOPICS_OF_A_FOLDER))
    own = of_folder[owners, folders, chance.integers(0, TOPICS_OF_A_FOLDER, len(owners))]
    return np.where(
        chance.random(len(owners)) < OWN_TOPIC, own, chance.integers(0, TOPICS, len(owners))
    )


def _vectors(chance: np.random.Generator, topics: Numbers) -> Halves:
    centres = unit(chance.standard_normal((TOPICS, DIMENSIONS), dtype=np.float32))
    shared = unit(chance.standard_normal((16, DIMENSIONS), dtype=np.float32))
    found = np.empty((len(topics) * PASSAGES_PER_ITEM, DIMENSIONS), np.float16)
    for start in range(0, len(topics), 10_000):
        part = topics[start : start + 10_000]
        offsets = chance.standard_normal((len(part), 16), dtype=np.float32) @ shared / np.float32(8)
        middles = np.repeat(centres[part] + offsets, PASSAGES_PER_ITEM, axis=0)
        rows = slice(start * PASSAGES_PER_ITEM, start * PASSAGES_PER_ITEM + len(middles))
        found[rows] = unit(middles + noise(chance, len(middles), 0.5))
    return found


def noise(chance: np.random.Generator, count: int, length: float) -> Floats:
    """Return vectors of about that length in every direction."""
    raw = chance.standard_normal((count, DIMENSIONS), dtype=np.float32)
    return raw * np.float32(length / np.sqrt(DIMENSIONS))


def unit(vectors: Floats) -> Floats:
    """Return the vectors at length 1."""
    scaled: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def folder_path(number: int) -> str:
    """Return the three levels of a folder."""
    return f"area {number // 40}/topic {number // 8}/folder {number}"


def words(chance: np.random.Generator, count: int) -> Numbers:
    """Return a passage's words for each of `count` passages, common ones often."""
    ranks = chance.zipf(1.3, (count, WORDS))
    return np.minimum(ranks, VOCABULARY)
