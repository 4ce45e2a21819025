"""The last figures of `make eval` and `make bench`, as their files hold them; else the committed baseline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings

# What a page shows of a set; the file has more.
METRICS: Final = (
    "nDCG@10",
    "recall@5",
    "P@1",
    "MRR@10",
    "no_match_recall",
    "no_match_refusal",
    "AUROC",
)
MOST_FIGURES: Final = 60
MOST_COLUMNS: Final = 24
LARGEST: Final = 2_000_000


Cell = float | str


@dataclass(frozen=True)
class SetRun:
    """What a set measured: one value for each of METRICS, None where it does not measure it."""

    name: str
    values: tuple[float | None, ...]
    at: datetime | None = None


@dataclass(frozen=True)
class Table:
    """Several measurements of one kind: a row for each, of numbers and words."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class PartRun:
    """What a part of the bench measured: single numbers, tables, and the promises it did not keep."""

    name: str
    at: datetime | None
    seconds: float | None
    faults: tuple[str, ...] = ()
    figures: tuple[tuple[str, float], ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Runs:
    """Both, and whether what is shown of the sets is only the committed baseline."""

    sets: tuple[SetRun, ...]
    parts: tuple[PartRun, ...]
    is_baseline: bool


def last_runs() -> Runs:
    """Return what was measured last; a file that is missing or damaged counts as none."""
    folder = Path(settings.RUNS_FOLDER)
    sets = tuple(_sets(_read(folder / "eval.json").get("sets")))
    parts = tuple(_parts(_read(folder / "bench.json").get("parts")))
    if sets:
        return Runs(sets, parts, is_baseline=False)
    baseline = _read(Path(settings.BASE_DIR) / "evals" / "baseline.json")
    return Runs(tuple(_stored(baseline)), parts, is_baseline=True)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > LARGEST:
            return {}
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _sets(found: Any) -> Iterator[SetRun]:
    for name, one in sorted(_items(found)):
        figures = one.get("figures") if isinstance(one, dict) else None
        whole = figures.get("all") if isinstance(figures, dict) else None
        if isinstance(whole, dict):
            yield SetRun(
                name, tuple(_number(whole.get(m)) for m in METRICS), _instant(one.get("at"))
            )


def _stored(found: Mapping[str, Any]) -> Iterator[SetRun]:
    """The baseline holds [value, low, high] for each figure."""
    for name, one in sorted(_items(found)):
        slices = one.get("slices") if isinstance(one, dict) else None
        whole = slices.get("all") if isinstance(slices, dict) else None
        if isinstance(whole, dict):
            yield SetRun(name, tuple(_number(_first(whole.get(m))) for m in METRICS))


def _parts(found: Any) -> Iterator[PartRun]:
    for name, one in sorted(_items(found)):
        if isinstance(one, dict):
            faults = one.get("faults")
            yield PartRun(
                name=name,
                at=_instant(one.get("at")),
                seconds=_number(one.get("seconds")),
                faults=tuple(map(str, faults)) if isinstance(faults, list) else (),
                figures=tuple(_numbers(one.get("figures")))[:MOST_FIGURES],
                tables=tuple(_tables(one.get("figures"))),
            )


def _numbers(found: Any) -> Iterator[tuple[str, float]]:
    for name, one in _flat(found, ()):
        number = _number(one)
        if number is not None:
            yield name, number


def _tables(found: Any) -> Iterator[Table]:
    for name, one in _flat(found, ()):
        if isinstance(one, list) and one and all(isinstance(row, dict) for row in one):
            rows = [dict(_flat(row, ())) for row in one[:MOST_FIGURES]]
            columns = tuple(dict.fromkeys(name for row in rows for name in row))[:MOST_COLUMNS]
            cells = tuple(tuple(_cell(row.get(column)) for column in columns) for row in rows)
            yield Table(name, columns, cells)


def _flat(found: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield everything that is no object itself, under its whole name."""
    if isinstance(found, dict):
        for name, one in found.items():
            yield from _flat(one, (*names, str(name)))
    else:
        yield " / ".join(names), found


def _cell(found: Any) -> Cell:
    number = _number(found)
    return number if number is not None else "" if found is None else str(found)[:100]


def _items(found: Any) -> list[tuple[str, Any]]:
    return [(str(name), one) for name, one in found.items()] if isinstance(found, dict) else []


def _first(found: Any) -> Any:
    return found[0] if isinstance(found, list) and found else found


def _number(found: Any) -> float | None:
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if is_number else None


def _instant(found: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(found))
    except ValueError:
        return None
