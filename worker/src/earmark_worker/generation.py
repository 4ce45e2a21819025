"""One run of the model, watched while it streams; it may still be thrown away."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from earmark_worker.events import ToolCallSuppressed
from earmark_worker.follow_up import Pins
from earmark_worker.question_boundary import QuestionBoundary
from earmark_worker.search_plan import SEARCH_TOOL, strict_queries
from earmark_worker.turn_context import TurnContext
from earmark_worker.turn_policy import needs_search
from earmark_worker.turns import TurnView

if TYPE_CHECKING:
    from earmark_worker.conversation import Conversation


@dataclass(frozen=True)
class Seen:
    """What a search call was seen with: its turn, the context and the pins it may carry."""

    generation: str
    turn: str
    context: TurnContext
    pins: Pins | None


class Generation:
    """One run of the model: watches its text and its tool calls; changes nothing in the call."""

    def __init__(self, conversation: "Conversation", name: str, view: TurnView) -> None:
        self.id = name
        self.turn = view.caller_turn
        self.force_search = needs_search(view, answering_survey=conversation.surveying)
        self._conversation = conversation
        self._context = conversation.captured(view)
        self._boundary = QuestionBoundary()
        self._pins = conversation.follow_ups.offer()

    def text(self, piece: str) -> None:
        """Take streamed text; call it before the tool calls of the same chunk."""
        self._boundary.feed(piece)

    def admit(self, call: str, tool: str, arguments: str, *, speculate: bool) -> bool:
        """Whether a tool call goes on to the framework; a search may begin right here."""
        reason = self._refusal(tool)
        if reason is not None:
            self._conversation.announcer.tell(ToolCallSuppressed(self.turn, tool, reason))
            return False
        if tool == SEARCH_TOOL:
            self._see(call, arguments, speculate=speculate)
        return True

    def _refusal(self, tool: str) -> str | None:
        if self._boundary.asked:
            return "after_question"
        return self._conversation.gate(tool)

    def _see(self, call: str, arguments: str, *, speculate: bool) -> None:
        pins, self._pins = self._pins, None
        seen = Seen(self.id, self.turn, self._context, pins)
        self._conversation.see(call, seen, strict_queries(arguments), speculate=speculate)
