"""What people read of a run, and what machines do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from config.private import home
from evals.baseline import Fall, Measured
from evals.measuring import AUROC, RANKING, RECALL, REFUSAL, SIBLING_FIRST

COLUMNS = (*RANKING, SIBLING_FIRST, RECALL, REFUSAL, AUROC)
_HEADINGS = {SIBLING_FIRST: "sibling 1st", RECALL: "answered", REFUSAL: "refused"}
_WIDTH = 13
RUNS: Final = "runs/eval.json"


def table(
    name: str, measured: Measured, before: Measured | None, fallen: Sequence[Fall]
) -> Iterator[str]:
    """Yield the lines of one set: each figure, and the baseline's in brackets where it differs."""
    columns = [c for c in COLUMNS if any(c in s.figures for s in measured.slices.values())]
    headings = [_HEADINGS.get(column, column).rjust(_WIDTH) for column in columns]
    yield f"{name:28}{'n':>6}" + "".join(headings)
    marked = {(fall.slice, fall.metric) for fall in fallen}
    for place, part in measured.slices.items():
        known = before.slices[place].figures if before and place in before.slices else {}
        cells = [
            _cell(
                part.figures[c].value, known[c].value if c in known else None, (place, c) in marked
            )
            if c in part.figures
            else ""
            for c in columns
        ]
        yield f"  {place:26}{part.count:6}" + "".join(cell.rjust(_WIDTH) for cell in cells)


def _cell(value: float, before: float | None, fell: bool) -> str:  # noqa: FBT001
    same = before is None or abs(value - before) < 0.0005
    beside = "" if same else f" ({before:.3f})"
    return f"{'!' if fell else ''}{value:.3f}{beside}".replace("0.", ".")


def as_json(results: Mapping[str, Measured]) -> dict[str, Any]:
    """Return {set: {language, "all" or another slice: {metric: value}}}."""
    return {
        name: {
            place: {metric: figure.value for metric, figure in part.figures.items()}
            for place, part in measured.slices.items()
        }
        for name, measured in results.items()
    }


def keep(results: Mapping[str, Measured]) -> None:
    """Keep the figures, with those of other sets from earlier runs, where the admin's page reads them.

    Shape: {"sets": {name: {"at": instant, "figures": as `as_json` returns them}}}
    """
    path = home() / RUNS
    path.parent.mkdir(exist_ok=True)
    at = datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 - a command
    new = {name: {"at": at, "figures": figures} for name, figures in as_json(results).items()}
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps({"sets": _kept(path) | new}, indent=1) + "\n", "utf-8")
    draft.replace(path)


def _kept(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))["sets"]
    except (FileNotFoundError, ValueError, KeyError):
        return {}
    return found
