"""The one tool that a voice model is given: its name, when to call it, and with what."""

from __future__ import annotations

from typing import Any, Final

from voiceapi.fields import LONGEST_QUERY
from voiceapi.requests import MOST_QUERIES

NAME: Final = "search_knowledge"
DESCRIPTION: Final = """\
Search the organization's approved instructions and knowledge. Call it before you answer whenever \
the caller asks for a fact, a policy, a price, a step or help with a problem, and again when the \
question changes. Do not call it for greetings, thanks, farewells or an answer to a question that \
you asked only to go on with a step. Say only what the results state.

Each query stands alone: put into it what earlier turns made clear, never "it" or "that". Leave \
out account numbers, card numbers and other digits of the caller.

The order of the results is a hint. A result whose trigger is exactly the caller's situation \
beats an earlier result about something else, even when it comes later. Never skip a prerequisite \
step: when a step asks for something first, do that first, whichever result it stands in.

When the status is not "ok", follow the guidance and invent nothing."""
_QUERIES: Final = """\
One to four queries, in this order, leaving out those that add nothing: \
1. the question in the caller's language; \
2. the same question in English; \
3. the words that the title of a help article about it would have, in English; \
4. the question in positive words only, without the products or ways that the caller ruled out."""

TOOL: Final[dict[str, Any]] = {
    "name": NAME,
    "description": DESCRIPTION,
    "parameters": {
        "type": "object",
        "properties": {
            "queries": {
                "type": "array",
                "description": _QUERIES,
                "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_QUERY},
                "minItems": 1,
                "maxItems": MOST_QUERIES,
            }
        },
        "required": ["queries"],
        "additionalProperties": False,
    },
}
