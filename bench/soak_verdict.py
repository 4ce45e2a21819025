"""Whether a soak was passed: nothing grows, nothing was refused, and what was asked for was answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from bench.soak_sampling import Sample

# The first part is warming up: the cache of query vectors alone takes 25 minutes to fill.
WARMING: Final = 1 / 2
# What the fitted line may rise by over the rest, and a step that is noise in any case.
MOST_RISE: Final = {"memory_mb": 0.05, "backends_mb": 0.05, "connections": 0.1, "pending_s": 0.5}
NOISE: Final = {"memory_mb": 10.0, "backends_mb": 10.0, "connections": 2.0, "pending_s": 10.0}
# Of what is asked for at half load, so much is answered, or it was not half load.
LEAST_ANSWERED: Final = 0.9
# Too many at once, too many a minute, a search that failed: none of them comes at half load.
_REFUSED: Final = ("429", "503")


def rises(samples: Sequence[Sample]) -> dict[str, dict[str, Any]]:
    """Return the verdict on every line."""
    return {name: verdict(samples, name) for name in MOST_RISE}


def verdict(samples: Sequence[Sample], name: str) -> dict[str, Any]:
    """Return the slope of a line through what came after warming up, and whether that is flat."""
    kept = samples[int(len(samples) * WARMING) :]
    x = np.array([sample.at for sample in kept])
    y = np.array([float(getattr(sample, name)) for sample in kept])
    slope = float(np.polyfit(x, y, 1)[0]) if len(kept) > 2 else 0.0
    rise = slope * float(x[-1] - x[0])
    allowed = max(MOST_RISE[name] * float(np.median(y)), NOISE[name])
    return {
        "median": round(float(np.median(y)), 1),
        "slope_an_hour": round(slope * 3600, 2),
        "rise": round(rise, 1),
        "allowed": round(allowed, 1),
        "flat": rise <= allowed,
    }


def faults(report: Mapping[str, Any]) -> Iterator[str]:
    """Say each promise that was not kept, as a sentence."""
    answers = report["answers"]
    refused = {kind: n for kind, n in answers.items() if kind.startswith(_REFUSED)}
    broken = {kind: n for kind, n in answers.items() if n and kind not in {"200", *refused}}
    if refused:
        yield f"{sum(refused.values())} searches were refused or failed at half load: {refused}."
    if broken:
        yield f"{sum(broken.values())} searches had no answer that the contract knows: {broken}."
    if answers.get("200", 0) < LEAST_ANSWERED * report["asked_for"]:
        yield f"{answers.get('200', 0)} searches were answered of {report['asked_for']} asked for."
    if not report["canaries"]["sound"]:
        yield f"The looks for canaries were not sound: {report['canaries']}."
    for name, found in report["verdicts"].items():
        if not found["flat"]:
            yield f"{name} grows: by {found['rise']}, where {found['allowed']} is allowed."
