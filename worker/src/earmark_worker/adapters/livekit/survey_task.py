"""A survey as a LiveKit task: it asks and binds without a model, and nothing else may run.

Await it inside a tool of your agent: `result = await SurveyTask(controller, conversation)`.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from livekit.agents import AgentTask, ModelSettings, llm
from typing_extensions import override

from earmark_worker.adapters.livekit.speech import current_handle
from earmark_worker.conversation import Conversation
from earmark_worker.errors import SubmissionFailed
from earmark_worker.outcomes import NextAction
from earmark_worker.survey import SurveyController


@dataclass(frozen=True)
class SurveyResult:
    """How a survey ended; one that was not submitted is kept and can be resumed."""

    submitted: bool


class SurveyTask(AgentTask[SurveyResult]):
    """Holds the call until the survey is complete.

    Shape: `closing` and `apology` (before a question that is asked again) are said as they are, so
    give them in the caller's language. Preemptive generation is off here, so that every answer is bound once, from the turn
    that the caller really finished; each caller message is kept in the history.
    """

    def __init__(
        self,
        survey: SurveyController,
        conversation: Conversation,
        *,
        closing: str = "Thank you.",
        apology: str = "Sorry.",
    ) -> None:
        super().__init__(
            instructions="Ask the open survey question and nothing else.",
            turn_handling={"preemptive_generation": {"enabled": False}},
        )
        self._survey = survey
        self._conversation = conversation
        self._closing = closing
        self._apology = apology
        self._bound: set[str] = set()
        self._lead_in = ""

    @override
    async def on_enter(self) -> None:
        """Lock the call to the survey and ask the open question."""
        self._conversation.surveying = True
        self._conversation.gate = self._survey.refuses
        await self._resumed()
        self._opening = self.session.generate_reply(tool_choice="none")

    @override
    async def on_exit(self) -> None:
        """Give the call back."""
        self._conversation.surveying = False
        self._conversation.gate = lambda _tool: None

    @override
    async def on_user_turn_completed(
        self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
    ) -> None:
        """Bind the finished turn to the open question, once."""
        await self._bind(new_message)

    @override
    async def llm_node(
        self, chat_ctx: llm.ChatContext, tools: list[llm.Tool], model_settings: ModelSettings
    ) -> AsyncIterator[str]:
        """Say the next question; no model is asked."""
        newest = next((item for item in reversed(chat_ctx.items) if _is_spoken(item)), None)
        if isinstance(newest, llm.ChatMessage) and newest.role == "user":
            await self._bind(newest)
        question = self._survey.question
        if question is None:
            self._complete_after_speaking()
        yield f"{self._lead_in}{question.text}" if question else self._closing

    async def _bind(self, message: llm.ChatMessage) -> None:
        question = self._survey.question
        if question is None or message.id in self._bound:
            return
        self._bound.add(message.id)
        try:
            outcome = await self._survey.answer(question.id, message.text_content or "")
        except SubmissionFailed:
            return
        again = outcome.next_action is NextAction.ASK_CALLER and outcome.attempts_left is not None
        self._lead_in = f"{self._apology} " if again else ""

    async def _resumed(self) -> None:
        try:
            await self._survey.resume()
        except SubmissionFailed:
            return

    def _complete_after_speaking(self) -> None:
        handle = current_handle()
        if handle is None:
            self._finish()
        else:
            handle.add_done_callback(self._finish)

    def _finish(self, _handle: Any = None) -> None:
        if not self.done():
            self.complete(SurveyResult(submitted=self._survey.submitted))


def _is_spoken(item: llm.ChatItem) -> bool:
    return isinstance(item, llm.ChatMessage) and item.role in ("user", "assistant")
