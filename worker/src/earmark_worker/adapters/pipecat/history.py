"""Reads Pipecat's context as the turns of a call."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from earmark_worker.turns import Speaker, Turn, TurnView

_SPEAKERS = {"user": Speaker.CALLER, "assistant": Speaker.AGENT, "tool": Speaker.TOOL}
_STILL_RUNS = "IN_PROGRESS"


def turn_view(messages: Iterable[Any]) -> TurnView:
    """The conversation so far; stand-ins for tools that still run are no results."""
    return TurnView(tuple(_turns(messages)))


def _turns(messages: Iterable[Any]) -> Iterator[Turn]:
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            continue
        text = _text(message.get("content"))
        if message.get("role") == "tool" and text == _STILL_RUNS:
            continue
        if text or message.get("role") == "tool":
            speaker = _SPEAKERS.get(str(message.get("role")), Speaker.SYSTEM)
            yield Turn(speaker, text, id=str(index))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(
        str(part.get("text", "")) for part in parts if isinstance(part, Mapping)
    ).strip()
