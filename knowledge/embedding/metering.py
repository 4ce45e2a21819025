"""What a call of an embedding service cost, told to whoever asked for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Meter:
    """Tokens and calls as the service counted them; zero where it says nothing."""

    tokens: int = 0
    calls: int = 0


_meter: ContextVar[Meter | None] = ContextVar("embedding_meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """Count what is spent inside the block."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def spent(answer: bytes) -> None:
    """Count one answer of a service that speaks the OpenAI API."""
    meter = _meter.get()
    if meter is None:
        return
    meter.calls += 1
    meter.tokens += _tokens(answer)


def _tokens(answer: bytes) -> int:
    try:
        said = json.loads(answer)
    except ValueError:
        return 0
    usage = said.get("usage") if isinstance(said, dict) else None
    found = usage.get("total_tokens") if isinstance(usage, dict) else None
    return found if type(found) is int and found > 0 else 0
