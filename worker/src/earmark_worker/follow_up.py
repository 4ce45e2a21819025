"""What the last search of the call leaves for the next one: its results, and who used what."""

from dataclasses import dataclass

MOST_PINNED = 5
MOST_ADOPTED = 20


@dataclass(frozen=True)
class Pins:
    """The last executed search and the results worth keeping in view."""

    follows: str
    pinned: tuple[str, ...]


class FollowUps:
    """Remembers the last successfully executed search; offers it once."""

    def __init__(self) -> None:
        self._pins: Pins | None = None
        self._adopted: list[str] = []

    def offer(self) -> Pins | None:
        """The pins for the next search; they stay on offer until a search with them is executed."""
        return self._pins

    def executed(self, search: str, results: list[str]) -> None:
        """An executed search found something: it is what the next one follows."""
        self._pins = Pins(follows=search, pinned=tuple(dict.fromkeys(results))[:MOST_PINNED])

    def spent(self, pins: Pins | None) -> None:
        """An executed search carried these pins; they are not sent again."""
        if pins is not None and pins == self._pins:
            self._pins = None

    def adopt(self, search: str) -> None:
        """A speculative search was used after all; the next request says so."""
        self._adopted.append(search)

    def adopted(self) -> tuple[str, ...]:
        """Adoptions that no answered request has carried yet, oldest first, at most twenty."""
        return tuple(self._adopted[:MOST_ADOPTED])

    def reported(self, adopted: tuple[str, ...]) -> None:
        """A request with these adoptions was answered."""
        self._adopted = [search for search in self._adopted if search not in adopted]
