"""What calls of an embedding service cost, told to whoever asked for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Meter:
    """Tokens and calls as the service counted them; zero where it says nothing.

    failed  of the calls brought nothing that could be used; what they cost counts all the same.
    is_question  whether somebody waits for the answer to a question meanwhile.
    """

    is_question: bool = False
    tokens: int = 0
    calls: int = 0
    failed: int = 0
    texts: int = 0


_meter: ContextVar[Meter | None] = ContextVar("embedding_meter", default=None)


@contextmanager
def metered(*, is_question: bool = False) -> Iterator[Meter]:
    """Count what is spent inside the block; a block inside it counts for itself alone."""
    meter = Meter(is_question)
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def is_question() -> bool:
    """Whether what is embedded now is a question that somebody waits for."""
    meter = _meter.get()
    return meter is not None and meter.is_question


@contextmanager
def calling(texts: int) -> Iterator[None]:
    """Count one call of a service that speaks the OpenAI API; one that raises has failed."""
    meter = _meter.get() or Meter()
    meter.calls += 1
    try:
        yield
    except BaseException:
        meter.failed += 1
        raise
    meter.texts += texts


def spent(answer: bytes) -> None:
    """Count the tokens that an answer says were spent, whether or not it is of use."""
    meter = _meter.get()
    if meter is not None:
        meter.tokens += _tokens(answer)


def _tokens(answer: bytes) -> int:
    try:
        said = json.loads(answer)
    except ValueError:
        return 0
    usage = said.get("usage") if isinstance(said, dict) else None
    found = usage.get("total_tokens") if isinstance(usage, dict) else None
    return found if type(found) is int and found > 0 else 0
