"""The scripted model as a Pipecat service, for examples without a model server."""

import json
from typing import Any
from uuid import uuid4

from pipecat.frames.frames import (
    Frame,
    FunctionCallFromLLM,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from typing_extensions import override

from earmark_worker.adapters.pipecat.history import turn_view
from earmark_worker.scripted import scripted_reply


class ScriptedLLMService(LLMService[Any]):
    """Searches for what was said and reads the best passage out."""

    @override
    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Reply to a context."""
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        reply = scripted_reply(turn_view(frame.context.get_messages()))
        await self.push_frame(LLMFullResponseStartFrame())
        if reply.text:
            await self.push_frame(LLMTextFrame(reply.text))
        if reply.tool is not None:
            call = FunctionCallFromLLM(
                function_name=reply.tool,
                tool_call_id=f"call_{uuid4().hex[:12]}",
                arguments=json.loads(reply.arguments),
                context=frame.context,
            )
            await self.run_function_calls([call])
        await self.push_frame(LLMFullResponseEndFrame())
