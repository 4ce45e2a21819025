"""What one look for canaries came to, and how what was seen is judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from knowledge.canaries import Canary
from scopes.vantages import Vantage
from scopes.walls import Found


@dataclass(frozen=True)
class Seen:
    """What one wall let through: anything of it may be a leak, but only what its leg found shows that it sees."""

    how: str
    rows: Found
    leg: str = ""

    def has(self, canary: Canary) -> bool:
        """Whether the canary was found by the leg that was asked."""
        return canary.id in self.rows and (not self.leg or self.leg in self.rows[canary.id])


@dataclass
class Look:
    """What one look at one organization came to, in sentences for staff.

    searches  the places that were looked from; of those, how many each leg was asked from.
    unasked   why the dense leg was not asked from everywhere; what was not asked has not passed.
    """

    searches: int = 0
    leaks: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    lexical_searches: int = 0
    dense_searches: int = 0
    unasked: str = ""

    @property
    def faults(self) -> list[str]:
        """Everything that keeps the look from being a pass."""
        gap = [f"not asked by vectors: {self.unasked}"] if self.unasked else []
        return [*self.leaks, *self.missed, *gap]

    def judge(self, vantage: Vantage, canaries: Iterable[Canary], seen: Seen) -> None:
        """Note each canary that must not have been seen from there, and each that must."""
        for canary in canaries:
            line = f"{canary.category} {canary.name}:"
            if canary.id in seen.rows and canary.id not in vantage.may_find:
                self.leaks.append(f"{line} {seen.how}")
            if canary.id in vantage.must_find and not seen.has(canary):
                self.missed.append(f"{line} not {seen.how}")
