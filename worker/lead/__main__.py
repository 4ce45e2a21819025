"""Measures how early results are ready: real SDK, scripted turns, once early and once as usual."""

import argparse
import asyncio
import json
import logging
from pathlib import Path

from lead.call import Caller, Measured
from lead.report import as_text, summary
from lead.timings import drawn

ARTEFACT = Path("artefacts/lead.json")


async def measure(turns: int, calls: int, *, preemptive: bool) -> list[Measured]:
    """All turns, spread over calls that run side by side."""
    timings = drawn(turns)
    shares = [timings[index::calls] for index in range(calls)]
    callers = [Caller(preemptive=preemptive).talk(part) for part in shares]
    return [turn for measured in await asyncio.gather(*callers) for turn in measured]


def main() -> None:
    """Print both distributions and keep the numbers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    numbers = {}
    for name, preemptive in (
        ("search while the caller speaks", True),
        ("search after the turn", False),
    ):
        measured = asyncio.run(measure(options.turns, options.calls, preemptive=preemptive))
        numbers[name] = summary(measured)
        print(as_text(name, numbers[name]), flush=True)
    ARTEFACT.parent.mkdir(exist_ok=True)
    ARTEFACT.write_text(json.dumps(numbers, indent=2))


if __name__ == "__main__":
    main()
