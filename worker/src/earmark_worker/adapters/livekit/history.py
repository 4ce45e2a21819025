"""Reads LiveKit's chat context as the turns of a call."""

from collections.abc import Iterator

from livekit.agents import llm

from earmark_worker.turns import Speaker, Turn, TurnView

_RUNNING = "__lk_running_placeholder__"
_SPEAKERS = {"user": Speaker.CALLER, "assistant": Speaker.AGENT}


def turn_view(chat_ctx: llm.ChatContext) -> TurnView:
    """The conversation so far; stand-ins for tools that still run are no results."""
    return TurnView(tuple(_turns(chat_ctx)))


def _turns(chat_ctx: llm.ChatContext) -> Iterator[Turn]:
    running = {
        item.call_id
        for item in chat_ctx.items
        if isinstance(item, llm.FunctionCall) and item.extra.get(_RUNNING)
    }
    for item in chat_ctx.items:
        if isinstance(item, llm.ChatMessage):
            speaker = _SPEAKERS.get(item.role, Speaker.SYSTEM)
            yield Turn(speaker, item.text_content or "", id=item.id)
        elif isinstance(item, llm.FunctionCallOutput) and item.call_id not in running:
            yield Turn(Speaker.TOOL, item.output, tool=item.name, id=item.id)
