"""What a tool hands to the model: a status, what to do next, and what is needed for it."""

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from earmark_worker.wire import Result, SearchReply


class NextAction(StrEnum):
    """The step the model should take after a tool."""

    ANSWER = "answer_from_results"
    HEDGE_OR_ASK = "hedge_or_ask_back"
    OFFER_FALLBACK = "offer_fallback"
    LISTEN = "listen_to_the_caller"
    ASK_CALLER = "ask_the_caller"
    TRY_AGAIN = "try_again"
    HAND_OVER = "hand_over"
    CONTINUE = "continue"


@dataclass(frozen=True)
class ToolOutcome:
    """One tool's outcome.

    Shape: `required_input` names what the caller has to give before the next try;
    `attempts_left` is None where a workflow counts no attempts.
    """

    status: str
    next_action: NextAction
    guidance: str | None = None
    required_input: str | None = None
    attempts_left: int | None = None
    results: tuple[dict[str, Any], ...] = field(default=())

    def for_model(self) -> str:
        """The outcome as JSON text, without what is not set."""
        return json.dumps(self.body(), ensure_ascii=False)

    def body(self) -> dict[str, Any]:
        """The outcome as plain values, without what is not set."""
        body = {
            "status": self.status,
            "next_action": self.next_action.value,
            "guidance": self.guidance,
            "required_input": self.required_input,
            "attempts_left": self.attempts_left,
            "results": list(self.results),
        }
        return {key: value for key, value in body.items() if value not in (None, [])}


@dataclass
class Attempts:
    """Counts the tries of one step of a workflow."""

    limit: int
    used: int = 0

    @property
    def left(self) -> int:
        """Tries that remain."""
        return max(self.limit - self.used, 0)

    def failed(self, required_input: str, guidance: str) -> ToolOutcome:
        """The outcome of a try that did not work: ask again, or hand over when none is left."""
        self.used += 1
        return ToolOutcome(
            status="retry" if self.left else "exhausted",
            next_action=NextAction.ASK_CALLER if self.left else NextAction.HAND_OVER,
            guidance=guidance,
            required_input=required_input if self.left else None,
            attempts_left=self.left,
        )


NO_ANSWER_GUIDANCE = (
    "The knowledge search is not available right now. Do not state facts from memory. "
    "Say that you cannot look this up at the moment and offer the fallback."
)


def from_search(reply: SearchReply, *, fallback: str = "") -> ToolOutcome:
    """The outcome of a search for the model; scores and ids stay out of it."""
    found = reply.status == "ok" and bool(reply.results)
    guidance = reply.guidance if found else _miss_guidance(reply, fallback)
    return ToolOutcome(
        status=reply.status,
        next_action=_next_action(found=found, hedged=reply.guidance is not None),
        guidance=guidance,
        results=tuple(_shown(result) for result in reply.results),
    )


def interrupted() -> ToolOutcome:
    """The caller spoke before the search came back."""
    return ToolOutcome(
        status="interrupted",
        next_action=NextAction.LISTEN,
        guidance="The caller spoke before the search ended. Listen, then search for the new turn.",
    )


def invalid_arguments() -> ToolOutcome:
    """The model called the search without a usable query."""
    return ToolOutcome(
        status="invalid_arguments",
        next_action=NextAction.TRY_AGAIN,
        guidance="Pass one to four standalone queries, each a short text.",
        required_input="queries",
    )


def _next_action(*, found: bool, hedged: bool) -> NextAction:
    if not found:
        return NextAction.OFFER_FALLBACK
    return NextAction.HEDGE_OR_ASK if hedged else NextAction.ANSWER


def _miss_guidance(reply: SearchReply, fallback: str) -> str:
    guidance = reply.guidance or NO_ANSWER_GUIDANCE
    return f"{guidance} Fallback: {fallback}" if fallback else guidance


def _shown(result: Result) -> dict[str, Any]:
    shown = {
        "type": result.type,
        "title": result.title,
        "content": result.content,
        "url": result.url,
        "valid_until": result.valid_until.isoformat() if result.valid_until else None,
    }
    return {key: value for key, value in shown.items() if value is not None}
