"""The files of one soak in `.earmark/soak/`, by when it began.

Samples, answers until then and log are written as they come, so that a run that was killed leaves them:
`.jsonl` (what is asked for, then a sample a line), `.log` (of every process, at the level of production). At the end the
samples move into the report (`.json`) beside the picture (`.svg`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from bench.soak_picture import plot
from bench.soak_sampling import Sample
from bench.soak_verdict import MOST_RISE
from config.private import home

PROGRESS_EVERY_S: Final = 300.0


class Notes:
    """What is written down of a soak."""

    def __init__(self, began: datetime) -> None:
        folder = home() / "soak"
        folder.mkdir(exist_ok=True)
        self.began = began
        self.samples: list[Sample] = []
        self._base = folder / f"{began:%Y-%m-%d-%H%M%S}"
        self._told_s = 0.0

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Keep what is asked for."""
        self._base.with_suffix(".jsonl").write_text(json.dumps(facts) + "\n", "utf-8")

    @property
    def log(self) -> Path:
        """Where every process writes its log."""
        return self._base.with_suffix(".log")

    @property
    def tally(self) -> Path:
        """Where the clients write how many answers of each kind there were."""
        return self._base.with_suffix(".tally")

    def answers(self) -> dict[str, int]:
        """Return what the clients wrote last."""
        try:
            found: dict[str, int] = json.loads(self.tally.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        return found

    def add(self, sample: Sample) -> None:
        """Keep a sample, and every five minutes print what was seen until then."""
        self.samples.append(sample)
        with self._kept.open("a", encoding="utf-8") as kept:
            kept.write(json.dumps(asdict(sample)) + "\n")
        if sample.at - self._told_s >= PROGRESS_EVERY_S:
            self._told_s = sample.at
            print(progress(sample), flush=True)

    def finish(self, report: Mapping[str, Any]) -> Path:
        """Write report and picture, and return the picture's place."""
        whole = {**report, "samples": [asdict(sample) for sample in self.samples]}
        picture = self._base.with_suffix(".svg")
        self._base.with_suffix(".json").write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
        picture.write_text(plot(whole), "utf-8")
        for path in (self._kept, self.tally):
            path.unlink(missing_ok=True)
        return picture

    @property
    def _kept(self) -> Path:
        return self._base.with_suffix(".jsonl")


def progress(sample: Sample) -> str:
    """Return one line of what was seen until then."""
    seen = ", ".join(f"{name} {getattr(sample, name):g}" for name in MOST_RISE)
    memory = ", ".join(f"{name} {used:g}" for name, used in sample.memory_of.items())
    return f"{sample.at / 60:4.0f} min  {sample.answers}  {seen}  ({memory})"
