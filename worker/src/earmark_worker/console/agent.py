"""An agent to type to: the same conversation as in a call, without audio."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from earmark_worker.console.models import Model, Request
from earmark_worker.conversation import Conversation
from earmark_worker.generation import Generation
from earmark_worker.scripted import Reply
from earmark_worker.search_plan import SEARCH_TOOL
from earmark_worker.speech.formatter import format_text
from earmark_worker.turns import Speaker, Turn, TurnView

_MOST_STEPS = 3
_FORCED = {"type": "function", "function": {"name": SEARCH_TOOL}}
_SPEAKERS = {"user": Speaker.CALLER, "assistant": Speaker.AGENT, "tool": Speaker.TOOL}


@dataclass(frozen=True)
class Exchange:
    """One turn of the caller and what came of it.

    Shape: `written` is what the model wrote, `spoken` what a voice would get; `searches` are the
    outcomes of the searches made for it.
    """

    written: str
    spoken: str
    searches: tuple[dict[str, Any], ...]


class ConsoleAgent:
    """Keeps the messages of one typed call."""

    def __init__(self, conversation: Conversation, model: Model) -> None:
        self._conversation = conversation
        self._model = model
        self._messages: list[dict[str, Any]] = [
            {"role": "system", "content": conversation.session.prompt}
        ]

    async def say(self, text: str) -> Exchange:
        """Take a turn of the caller to its answer."""
        self._messages.append({"role": "user", "content": text})
        searches: list[dict[str, Any]] = []
        reply = Reply()
        for step in range(_MOST_STEPS):
            reply = await self._think(last=step == _MOST_STEPS - 1)
            if reply.tool is None:
                break
            searches.append(await self._act(reply))
        self._messages.append({"role": "assistant", "content": reply.text})
        spoken = format_text(reply.text, self._conversation.language)
        return Exchange(reply.text, spoken, tuple(searches))

    async def _think(self, *, last: bool) -> Reply:
        view = self._view()
        generation = self._conversation.begin(uuid4().hex, view)
        choice = self._choice(generation, last=last)
        reply = await self._model.reply(Request(list(self._messages), view, self._tools(), choice))
        generation.text(reply.text)
        admitted = reply.tool == SEARCH_TOOL and generation.admit(
            uuid4().hex, SEARCH_TOOL, reply.arguments, speculate=False
        )
        return reply if admitted and not last else Reply(text=reply.text)

    def _choice(self, generation: Generation, *, last: bool) -> Any:
        if last:
            return "none"
        if not generation.force_search:
            return "auto"
        self._conversation.forced(generation)
        return _FORCED

    async def _act(self, reply: Reply) -> dict[str, Any]:
        call = uuid4().hex
        function = {"name": reply.tool, "arguments": reply.arguments}
        calls = [{"id": call, "type": "function", "function": function}]
        self._messages.append({"role": "assistant", "content": reply.text, "tool_calls": calls})
        outcome = await self._conversation.search(call, _queries(reply), view=self._view())
        output = {"role": "tool", "tool_call_id": call, "content": outcome.for_model()}
        self._messages.append(output)
        return outcome.body()

    def _tools(self) -> list[dict[str, Any]]:
        offered = self._conversation.session.tools
        return [{"type": "function", "function": tool.model_dump()} for tool in offered]

    def _view(self) -> TurnView:
        return TurnView(
            tuple(
                Turn(_SPEAKERS.get(m["role"], Speaker.SYSTEM), m["content"] or "", id=str(index))
                for index, m in enumerate(self._messages)
            )
        )


def _queries(reply: Reply) -> object:
    try:
        return json.loads(reply.arguments).get("queries")
    except (ValueError, AttributeError):
        return None
