"""A model without a model: it searches for what was said and reads the best passage out.

For examples, the console and measurements where no language model is at hand.
"""

import json
from dataclasses import dataclass

from earmark_worker.search_plan import SEARCH_TOOL
from earmark_worker.turn_context import LONGEST_QUERY, cut
from earmark_worker.turn_policy import is_substantive
from earmark_worker.turns import Speaker, TurnView

_LONGEST_READING = 320
GREETING = "How can I help you?"


@dataclass(frozen=True)
class Reply:
    """What a model answers: text, or one tool call.

    Shape: `arguments` is JSON text and set together with `tool`.
    """

    text: str = ""
    tool: str | None = None
    arguments: str = "{}"


def scripted_reply(view: TurnView) -> Reply:
    """The reply of the scripted model to a conversation."""
    newest = view.newest
    if newest is None:
        return Reply(text=GREETING)
    if newest.speaker is Speaker.TOOL:
        return Reply(text=read_out(newest.text))
    if newest.speaker is Speaker.CALLER and is_substantive(newest.text):
        arguments = json.dumps({"queries": [cut(newest.text, LONGEST_QUERY)]}, ensure_ascii=False)
        return Reply(tool=SEARCH_TOOL, arguments=arguments)
    return Reply(text=GREETING)


def read_out(output: str) -> str:
    """What to say for a tool output: the start of the best passage, or what its guidance says."""
    try:
        outcome = json.loads(output)
    except ValueError:
        return output
    results = outcome.get("results") or []
    return _start(results[0]["content"]) if results else outcome.get("guidance") or GREETING


def _start(passage: str) -> str:
    lines = [line for line in passage.splitlines() if line.strip() and not line.startswith("#")]
    return cut("\n".join(lines), _LONGEST_READING)
