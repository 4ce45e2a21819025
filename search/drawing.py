"""Lines for a picture in a page: where they run, computed; how they look is the template's and the style's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil, log10
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 220
LEFT: Final = 48
BOTTOM: Final = 24
TOP: Final = 8
RULED: Final = 4


@dataclass(frozen=True)
class Line:
    """One line: its name, its points as SVG wants them, and the same points singly."""

    name: str
    label: str
    points: str
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Picture:
    """A chart over days. Units: `rules` are (place, value) of the values' rules."""

    lines: tuple[Line, ...]
    rules: tuple[tuple[float, float], ...]
    first: date
    last: date
    unit: str
    width: int = WIDTH
    height: int = HEIGHT


def picture(
    days: Sequence[date], series: Mapping[str, tuple[str, Sequence[float | None]]], unit: str
) -> Picture | None:
    """Return the lines of some values over days, name -> (label, one value for each day); None without days."""
    if not days:
        return None
    highest = _rounded_up(
        max((v for _, values in series.values() for v in values if v is not None), default=0.0)
    )
    span = max(1, (days[-1] - days[0]).days)
    places = [_across((day - days[0]).days / span) for day in days]
    lines = tuple(
        _line(name, label, places, [None if v is None else v / highest for v in values])
        for name, (label, values) in series.items()
    )
    rules = tuple((_up(n / RULED), round(highest * n / RULED, 3)) for n in range(RULED + 1))
    return Picture(lines, rules, days[0], days[-1], unit)


def _line(name: str, label: str, places: Sequence[float], values: Sequence[float | None]) -> Line:
    dots = tuple(
        (x, _up(value)) for x, value in zip(places, values, strict=True) if value is not None
    )
    return Line(name, label, " ".join(f"{x},{y}" for x, y in dots), dots)


def _across(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - TOP), 1)


def _up(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)


def _rounded_up(value: float) -> float:
    """Return the next of 1, 2, 2.5, 5 times a power of ten, so that rules stand at round values."""
    if value <= 0:
        return 1.0
    power = float(10 ** ceil(log10(value) - 1))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value)
