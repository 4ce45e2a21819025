"""A Pipecat bot that answers from Earmark: `python examples/pipecat_bot.py`, then type.

Set EARMARK_URL, EARMARK_SERVICE_KEY, EARMARK_ORGANIZATION and EARMARK_AGENT (`make run` of the
server prints them). With OPENAI_API_KEY, or OPENAI_BASE_URL for any server that speaks its API,
a real model answers; without, a scripted one searches and reads the best passage out.

For a call, put your transport, STT and TTS around the same three processors, and add
`tts.add_text_transformer(speakable("en"))`.
"""

import asyncio
import os
import sys

from pipecat.frames.frames import (
    EndFrame,
    Frame,
    LLMFullResponseEndFrame,
    LLMRunFrame,
    LLMTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.workers.runner import WorkerRunner
from typing_extensions import override

from earmark_worker.adapters.pipecat.scripted import ScriptedLLMService
from earmark_worker.pipecat import (
    Call,
    CallDetails,
    EarmarkMixin,
    call_context,
    open_conversation,
    speakable,
)


class ScriptedModel(EarmarkMixin, ScriptedLLMService):
    """The scripted model, searching first."""


class OpenAIModel(EarmarkMixin, OpenAILLMService):
    """Any OpenAI-compatible model, searching first."""


def model() -> EarmarkMixin:
    """A real model when the environment names one, else the scripted one."""
    key, base_url = os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
    if not key and not base_url:
        return ScriptedModel()
    name = os.environ.get("EARMARK_CHAT_MODEL", "gpt-4.1-mini")
    return OpenAIModel(
        api_key=key or "none", base_url=base_url, settings=OpenAIModel.Settings(model=name)
    )


class Screen(FrameProcessor):
    """Prints an answer as a voice would get it, and says when it is complete."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = asyncio.Event()
        self._text = ""

    @override
    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Collect the text of a reply."""
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMTextFrame):
            self._text += frame.text
        if isinstance(frame, LLMFullResponseEndFrame) and self._text:
            print("agent>", await speakable("en")(self._text), flush=True)
            self._text = ""
            self.answered.set()
        await self.push_frame(frame, direction)


async def main() -> None:
    """One typed call."""
    conversation = await open_conversation(CallDetails(Call(id="typed", language="en")))
    context, screen = call_context(conversation), Screen()
    pair = LLMContextAggregatorPair(context)
    pipeline = Pipeline([pair.user(), model().attach(conversation), screen, pair.assistant()])
    worker = PipelineWorker(pipeline)
    running = asyncio.create_task(_run(worker))
    while said := (await asyncio.to_thread(sys.stdin.readline)).strip():
        screen.answered.clear()
        context.add_message({"role": "user", "content": said})
        await worker.queue_frames([LLMRunFrame()])
        await screen.answered.wait()
    await worker.queue_frames([EndFrame()])
    await running


async def _run(worker: PipelineWorker) -> None:
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


if __name__ == "__main__":
    asyncio.run(main())
