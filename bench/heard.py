"""What clients heard of a load, and what the server's own log says of the requests that it refused."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.clients import OVERLOADED

_REQUEST: Final = "earmark.request"


@dataclass(frozen=True)
class Load:
    """What clients heard.

    Units: milliseconds; answers in a second; refused found no place and were told so at once, other is
           everything that should not be, a search that failed (`unavailable`) too. `server_p50` and
           `server_p95` are what the server spent on a refusal: its log counts from the thread that took
           the request, the clients' `refused_p95` has the wait for that thread and for a busy core in it.
    """

    target: str
    clients: int
    rate: float
    p50: float
    p95: float
    p99: float
    refused: int
    refused_p95: float
    server_p50: float
    server_p95: float
    other: int
    others: dict[str, int]


def load_of(name: str, clients: int, heard: dict[str, Any], ok: int, seconds: float) -> Load:
    """Sum up what came back; the server's own time is told by `heard["server"]`, in milliseconds."""
    kinds = {kind: sorted(times) for kind, times in heard["seconds"].items()}
    answered, refused = kinds.pop(str(ok), []), kinds.pop(OVERLOADED, [])
    server = sorted(heard["server"])
    return Load(
        target=name,
        clients=clients,
        rate=round(len(answered) / seconds, 1),
        p50=_at(answered, 0.5),
        p95=_at(answered, 0.95),
        p99=_at(answered, 0.99),
        refused=len(refused),
        refused_p95=_at(refused, 0.95),
        server_p50=_at(server, 0.5, to_ms=1),
        server_p95=_at(server, 0.95, to_ms=1),
        other=heard["broken"] + sum(map(len, kinds.values())),
        others={kind: len(times) for kind, times in kinds.items()},
    )


def server_times(log: Path, requests: Collection[str]) -> list[float]:
    """Return the milliseconds that the log of the server gives for these requests."""
    wanted = set(requests)
    if not wanted:
        return []
    with log.open(encoding="utf-8") as lines:
        return [
            float(line["milliseconds"])
            for line in _json_lines(lines)
            if line.get("logger") == _REQUEST and line["request_id"] in wanted
        ]


def _json_lines(lines: Iterable[str]) -> Iterable[dict[str, Any]]:
    # What a library writes past the log is not JSON.
    return (json.loads(line) for line in lines if line.startswith("{"))


def _at(times: Sequence[float], share: float, to_ms: int = 1000) -> float:
    return round(times[min(len(times) - 1, int(len(times) * share))] * to_ms, 1) if times else 0.0
