"""The LiveKit agent that searches before it speaks."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Self
from uuid import uuid4

from livekit.agents import (
    Agent,
    FlushSentinel,
    ModelSettings,
    RunContext,
    function_tool,
    get_job_context,
    llm,
)
from typing_extensions import override

from earmark_worker.adapters.livekit.history import turn_view
from earmark_worker.adapters.livekit.options import session_options
from earmark_worker.adapters.livekit.speech import current_handle
from earmark_worker.conversation import Conversation, Race
from earmark_worker.events import Listener
from earmark_worker.generation import Generation
from earmark_worker.opening import CallDetails, open_conversation
from earmark_worker.search_plan import SEARCH_TOOL
from earmark_worker.settings import Settings

FORCE_SEARCH: llm.ToolChoice = {"type": "function", "function": {"name": SEARCH_TOOL}}
Chunk = llm.ChatChunk | str | FlushSentinel


class EarmarkAgent(Agent):
    """A LiveKit agent on one conversation; subclass it and add your own tools as usual.

    Shape: `instructions` are put after the prompt that the server assembled.
    """

    def __init__(
        self, conversation: Conversation, *, instructions: str = "", **options: Any
    ) -> None:
        tools = [*(options.pop("tools", None) or ()), _search_tool(conversation)]
        prompt = "\n\n".join(filter(None, [conversation.session.prompt, instructions]))
        super().__init__(instructions=prompt, tools=tools, **options)
        self.conversation = conversation
        self._running: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(
        cls,
        details: CallDetails,
        *,
        settings: Settings | None = None,
        listeners: tuple[Listener, ...] = (),
        **options: Any,
    ) -> Self:
        """Open a session on the server and make the agent of it.

        Raises: ConfigurationMissing, BootstrapRefused, ContractMismatch.
        """
        conversation = await open_conversation(details, settings=settings, listeners=listeners)
        return cls(conversation, **options)

    def session_options(self) -> dict[str, Any]:
        """Keyword arguments for the `AgentSession` that this agent will run in."""
        return session_options(self.conversation.language)

    @override
    async def on_enter(self) -> None:
        """End the server's session with the LiveKit session (call it first when overriding)."""
        self.session.on("close", self._closed)
        job = get_job_context(required=False)
        if job is not None:
            job.add_shutdown_callback(self.conversation.end)

    @override
    async def on_exit(self) -> None:
        """Another agent takes over: early searches of this one are dropped."""
        self.conversation.end_turn()

    @override
    async def llm_node(
        self, chat_ctx: llm.ChatContext, tools: list[llm.Tool], model_settings: ModelSettings
    ) -> AsyncIterator[Chunk]:
        """Make the model search first, and begin its searches as soon as they are readable."""
        generation = self.conversation.begin(uuid4().hex, turn_view(chat_ctx))
        settings = self._settings(generation, tools, model_settings)
        async for chunk in Agent.default.llm_node(self, chat_ctx, tools, settings):
            yield self._watched(generation, chunk)

    def _settings(
        self, generation: Generation, tools: list[llm.Tool], given: ModelSettings
    ) -> ModelSettings:
        if not generation.force_search or given.tool_choice == "none" or not _offers_search(tools):
            return given
        self.conversation.forced(generation)
        return ModelSettings(tool_choice=FORCE_SEARCH)

    def _watched(self, generation: Generation, chunk: Chunk) -> Chunk:
        if isinstance(chunk, str):
            generation.text(chunk)
        if not isinstance(chunk, llm.ChatChunk) or chunk.delta is None:
            return chunk
        generation.text(chunk.delta.content or "")
        calls = [call for call in chunk.delta.tool_calls if self._admits(generation, call)]
        if len(calls) == len(chunk.delta.tool_calls):
            return chunk
        return chunk.model_copy(
            update={"delta": chunk.delta.model_copy(update={"tool_calls": calls})}
        )

    def _admits(self, generation: Generation, call: llm.FunctionToolCall) -> bool:
        handle = current_handle()
        authorised = handle is not None and self.session.current_speech is handle
        return generation.admit(call.call_id, call.name, call.arguments, speculate=not authorised)

    def _closed(self, _event: object) -> None:
        task = asyncio.ensure_future(self.conversation.end())
        self._running.add(task)
        task.add_done_callback(self._running.discard)


def _race(context: RunContext[Any]) -> Race:
    async def race(task: "asyncio.Future[Any]") -> None:
        await context.speech_handle.wait_if_not_interrupted([task])

    return race


def _offers_search(tools: list[llm.Tool]) -> bool:
    return SEARCH_TOOL in llm.ToolContext(tools).function_tools


def _search_tool(conversation: Conversation) -> llm.Tool:
    offered = next(tool for tool in conversation.session.tools if tool.name == SEARCH_TOOL)

    async def search_knowledge(raw_arguments: dict[str, object], context: RunContext[Any]) -> str:
        outcome = await conversation.search(
            context.function_call.call_id,
            raw_arguments.get("queries"),
            view=turn_view(context.session.history),
            race=_race(context),
        )
        return outcome.for_model()

    return function_tool(search_knowledge, raw_schema=offered.model_dump())
