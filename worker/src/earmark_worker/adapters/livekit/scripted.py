"""The scripted model as a LiveKit model, for examples and measurements without a model server."""

import asyncio
from typing import Any
from uuid import uuid4

from livekit.agents import llm
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN, APIConnectOptions
from typing_extensions import override

from earmark_worker.adapters.livekit.history import turn_view
from earmark_worker.scripted import Reply, scripted_reply


class ScriptedLLM(llm.LLM[str]):
    """Searches for what was said and reads the best passage out.

    Units: `delay` in seconds, until a reply begins.
    """

    def __init__(self, *, delay: float = 0.0) -> None:
        super().__init__()
        self.delay = delay

    @override
    def chat(
        self,
        *,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        parallel_tool_calls: Any = NOT_GIVEN,
        tool_choice: Any = NOT_GIVEN,
        extra_kwargs: Any = NOT_GIVEN,
    ) -> llm.LLMStream:
        """Reply to a chat context."""
        return _Scripted(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class _Scripted(llm.LLMStream):
    @override
    async def _run(self) -> None:
        model = self._llm
        await asyncio.sleep(model.delay if isinstance(model, ScriptedLLM) else 0)
        self._event_ch.send_nowait(_chunk(scripted_reply(turn_view(self._chat_ctx))))


def _chunk(reply: Reply) -> llm.ChatChunk:
    delta = llm.ChoiceDelta(role="assistant", content=reply.text or None)
    if reply.tool is not None:
        call = llm.FunctionToolCall(
            name=reply.tool, arguments=reply.arguments, call_id=f"call_{uuid4().hex[:12]}"
        )
        delta.tool_calls = [call]
    return llm.ChatChunk(id=uuid4().hex, delta=delta)
