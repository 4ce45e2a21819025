"""The parts of `make bench`. A new one is a function of Options and one line in PARTS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

# Run in this order. Each is imported only when its turn comes: what one needs, no other has to have.
PARTS: Final = {
    "dense": "bench.dense:measure",
    "growth": "bench.growth:measure",
    "search": "bench.whole:measure",
    "load": "bench.load:measure",
    "embedding": "bench.embedding:measure",
    "importing": "bench.importing:measure",
    "folders": "bench.folders:measure",
}


@dataclass(frozen=True)
class Options:
    """How much to measure.

    Units: sizes in passages; seconds for each load; peers: beside other engines, where a part has some.
    """

    sizes: tuple[int, ...] = (10_000, 100_000)
    questions: int = 15
    seconds: int = 8
    clients: tuple[int, ...] = (1, 16, 48, 96)
    peers: bool = True


@dataclass(frozen=True)
class Outcome:
    """What a part found: figures that JSON can hold, and each promise that was not kept, as a sentence."""

    figures: dict[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


Part = Callable[[Options], Outcome]


def part(name: str) -> Part:
    """Return the function of that part."""
    module, function = PARTS[name].split(":")
    found: Part = getattr(import_module(module), function)
    return found
