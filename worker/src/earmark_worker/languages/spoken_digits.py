"""How many digits a row of number words stands for, read the way a listener writes them down."""

from dataclasses import dataclass

from earmark_worker.languages.german_compounds import compound_value
from earmark_worker.languages.number_words import NumberWords


@dataclass(frozen=True)
class Heard:
    """One number word or written digit group: exactly one of the fields is set."""

    digits: str | None = None
    value: int | None = None
    magnitude: int | None = None
    repeat: int | None = None
    joined: bool = False


def hear(word: str, table: NumberWords) -> Heard | None:
    """What a folded word means as a number in one language, or None."""
    bare = word.removeprefix("و") if table.units_before_tens and len(word) > 2 else word
    joined = bare != word
    for candidate in (word, bare):
        if candidate in table.plain:
            return Heard(value=table.plain[candidate], joined=joined and candidate == bare)
        if candidate in table.magnitudes:
            return Heard(magnitude=table.magnitudes[candidate])
    if word in table.repeats:
        return Heard(repeat=table.repeats[word])
    value = compound_value(word) if "hundert" in table.magnitudes else None
    return None if value is None else Heard(value=value)


def written(run: list[Heard], table: NumberWords) -> str:
    """The digits of a run: "twenty three double four" is 2344, "two thousand five" is 2005."""
    reader = _Reader(table)
    for heard in run:
        reader.take(heard)
    reader.close()
    return "".join(reader.out)


class _Reader:
    """Adds number words up while they belong together and starts anew when they do not."""

    def __init__(self, table: NumberWords) -> None:
        self.out: list[str] = []
        self._table = table
        self._total = 0
        self._group: int | None = None
        self._last = 0
        self._room = 0
        self._times = 1

    def take(self, heard: Heard) -> None:
        if heard.digits is not None:
            self.close()
            self.out.append(heard.digits * self._once())
        elif heard.repeat is not None:
            self.close()
            self._times = heard.repeat
        elif heard.magnitude is not None:
            self._multiply(heard.magnitude)
        elif heard.value is not None:
            self._add(heard.value, joined=heard.joined)

    def close(self) -> None:
        if self._group is not None or self._total:
            self.out.append(str(self._total + (self._group or 0)))
        self._total, self._group, self._last, self._room = 0, None, 0, 0

    def _once(self) -> int:
        times, self._times = self._times, 1
        return times

    def _add(self, value: int, *, joined: bool) -> None:
        times = self._once()
        if times > 1:
            self.close()
            self.out.append(str(value) * times)
        elif self._fits(value, joined=joined):
            self._group = (self._group or 0) + value
            self._last, self._room = value, _room_after(value, self._table)
        elif self._table.counts_in_twenties and value == 20 and self._last == 4:
            self._group, self._last, self._room = (self._group or 0) + 76, 80, 20
        else:
            self.close()
            self._group, self._last, self._room = value, value, _room_after(value, self._table)

    def _fits(self, value: int, *, joined: bool) -> bool:
        if joined and self._group is not None and 0 < self._last < 10 and value % 10 == 0:
            return 20 <= value < 100
        return 0 < value < self._room

    def _multiply(self, magnitude: int) -> None:
        if magnitude <= 100 and (self._group is None or 0 < self._last < magnitude):
            base = (self._group or 0) - self._last
            self._group = base + (self._last or 1) * magnitude
            self._last, self._room = magnitude, magnitude
        elif magnitude > 100 and self._total % (magnitude * 10) == 0:
            self._total += (self._group or 1) * magnitude
            self._group, self._last, self._room = None, 0, magnitude
        else:
            self.close()
            self._group, self._last, self._room = magnitude, magnitude, magnitude


def _room_after(value: int, table: NumberWords) -> int:
    if value >= 1000 and value % 1000 == 0:
        return 1000
    if value >= 100 and value % 100 == 0:
        return 100
    if table.counts_in_twenties and value in (60, 80):
        return 20
    if table.counts_in_twenties and value == 10:
        return 10
    tens = value >= 20 and value % 10 == 0
    return 10 if tens and not table.units_before_tens else 0
