"""The figures to hold: stored with the code, without a word of the sets' data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.measuring import LOWER_IS_BETTER, Figure, Slice

PATH = Path(__file__).with_name("baseline.json")


@dataclass(frozen=True)
class Measured:
    """A set's figures, and which questions they come from."""

    questions: str
    slices: dict[str, Slice]


@dataclass(frozen=True)
class Fall:
    """A figure that is worse than its interval allows."""

    name: str
    slice: str
    metric: str
    before: Figure
    now: Figure

    def __str__(self) -> str:
        before = f"{self.before.value:.3f} [{self.before.low:.3f}, {self.before.high:.3f}]"
        return f"{self.name} {self.slice}: {self.metric} {self.now.value:.3f}, was {before}"


def stored(path: Path = PATH) -> dict[str, Measured]:
    """Return the baseline; empty before the first was written."""
    if not path.exists():
        return {}
    return {name: _from_json(row) for name, row in json.loads(path.read_text("utf-8")).items()}


def write(measured: Mapping[str, Measured], path: Path = PATH) -> None:
    """Replace the figures of the sets that were measured; the others stay."""
    rows = {name: _to_json(one) for name, one in {**stored(path), **measured}.items()}
    path.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", "utf-8")


def falls(measured: Mapping[str, Measured], baseline: Mapping[str, Measured]) -> list[Fall]:
    """Return the figures that fell.

    The same questions fall when the figure leaves the interval; other questions of the set, a
    sample or another half, when their whole interval does.
    """
    found: list[Fall] = []
    for name, one in measured.items():
        before = baseline.get(name)
        if before is None:
            continue
        same = one.questions == before.questions
        for place, part in one.slices.items():
            known = before.slices.get(place, Slice(0, {})).figures
            found += [
                Fall(name, place, metric, known[metric], figure)
                for metric, figure in part.figures.items()
                if metric in known and _fell(metric, figure, known[metric], same=same)
            ]
    return found


def _fell(metric: str, now: Figure, before: Figure, *, same: bool) -> bool:
    if metric in LOWER_IS_BETTER:
        return (now.value if same else now.low) > before.high
    return (now.value if same else now.high) < before.low


def _to_json(one: Measured) -> dict[str, Any]:
    slices = {
        name: {
            "count": part.count,
            **{metric: [f.value, f.low, f.high] for metric, f in part.figures.items()},
        }
        for name, part in one.slices.items()
    }
    return {"questions": one.questions, "slices": slices}


def _from_json(row: dict[str, Any]) -> Measured:
    slices = {
        name: Slice(part["count"], {k: Figure(*v) for k, v in part.items() if k != "count"})
        for name, part in row["slices"].items()
    }
    return Measured(row["questions"], slices)
