"""Puts the search in front of any Pipecat model service."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import Frame, FunctionCallFromLLM, LLMContextFrame, LLMTextFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import FunctionCallParams, LLMService
from typing_extensions import override

from earmark_worker.adapters.pipecat.history import turn_view
from earmark_worker.conversation import Conversation
from earmark_worker.generation import Generation
from earmark_worker.search_plan import SEARCH_TOOL

_TOOL_TIMEOUT = 8.0

if TYPE_CHECKING:
    _Service = LLMService[Any]
else:
    _Service = object


class EarmarkMixin(_Service):
    """Searches first: `class Model(EarmarkMixin, OpenAILLMService): ...`, then `attach`.

    Shape: a search that an eager (not yet confirmed) turn asks for begins at once; Pipecat
    withdraws that reply, and the confirmed one takes the search over by its arguments.
    """

    _conversation: Conversation | None = None
    _generation: Generation | None = None
    _eager: bool = False

    def attach(self, conversation: Conversation) -> Self:
        """Serve one conversation: gives the model its prompt and the search tool."""
        self._conversation = conversation
        self.append_system_instruction(conversation.session.prompt)
        self.register_function(
            SEARCH_TOOL, self._search, cancel_on_interruption=True, timeout_secs=_TOOL_TIMEOUT
        )
        return self

    @override
    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Force the search for a turn that needs one, and watch the reply."""
        if self._conversation is None or not isinstance(frame, LLMContextFrame):
            await super().process_frame(frame, direction)
            return
        generation = self._begin(self._conversation, frame)
        if not generation.force_search or not _may_force(frame.context):
            await super().process_frame(frame, direction)
            return
        self._conversation.forced(generation)
        with self._forced(frame.context):
            await super().process_frame(frame, direction)

    @override
    async def push_frame(
        self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM
    ) -> None:
        """See the text of the reply on its way out."""
        if self._generation is not None and isinstance(frame, LLMTextFrame):
            self._generation.text(frame.text)
        await super().push_frame(frame, direction)

    @override
    async def run_function_calls(self, function_calls: Sequence[FunctionCallFromLLM]) -> None:
        """Begin the searches that are asked for; drop what has to wait for the caller."""
        await super().run_function_calls([call for call in function_calls if self._admits(call)])

    @override
    async def cleanup(self) -> None:
        """End the conversation with the pipeline."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        if self._conversation is not None:
            await self._conversation.end()

    @contextmanager
    def _forced(self, context: LLMContext) -> Iterator[None]:
        chosen = context.tool_choice
        context.set_tool_choice({"type": "function", "function": {"name": SEARCH_TOOL}})
        try:
            yield
        finally:
            context.set_tool_choice(chosen)

    def _begin(self, conversation: Conversation, frame: LLMContextFrame) -> Generation:
        self._eager = frame.speculation
        view = turn_view(frame.context.get_messages())
        self._generation = conversation.begin(uuid4().hex, view)
        return self._generation

    def _admits(self, call: FunctionCallFromLLM) -> bool:
        if self._generation is None:
            return True
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
        return self._generation.admit(
            call.tool_call_id, call.function_name, arguments, speculate=self._eager
        )

    async def _search(self, params: FunctionCallParams) -> None:
        if self._conversation is None:
            return
        outcome = await self._conversation.search(
            params.tool_call_id,
            params.arguments.get("queries"),
            view=turn_view(params.context.get_messages()),
        )
        await params.result_callback(outcome.body())


class EarmarkResponsesMixin(EarmarkMixin):
    """The same for Pipecat's OpenAI Responses services, which do not read a context's tool choice.

    Shape: the choice goes through the service's extra request fields, in the Responses shape.
    """

    @override
    @contextmanager
    def _forced(self, context: LLMContext) -> Iterator[None]:
        given = self._settings.extra
        choice = {"type": "function", "name": SEARCH_TOOL}
        self._settings.extra = {**(given or {}), "tool_choice": choice}
        try:
            yield
        finally:
            self._settings.extra = given


def search_tools(conversation: Conversation, *others: FunctionSchema) -> ToolsSchema:
    """The tools for an `LLMContext`: the search as the server describes it, and your own."""
    offered = next(tool for tool in conversation.session.tools if tool.name == SEARCH_TOOL)
    search = FunctionSchema(
        name=offered.name,
        description=offered.description,
        properties=offered.parameters.get("properties", {}),
        required=offered.parameters.get("required", []),
    )
    return ToolsSchema(standard_tools=[search, *others])


def call_context(conversation: Conversation, *others: FunctionSchema) -> LLMContext:
    """An empty context that offers the search; the prompt comes with `attach`."""
    return LLMContext(tools=search_tools(conversation, *others))


def _may_force(context: LLMContext) -> bool:
    if context.tool_choice == "none":
        return False
    tools = getattr(context.tools, "standard_tools", [])
    return any(getattr(tool, "name", None) == SEARCH_TOOL for tool in tools)
