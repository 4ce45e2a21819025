"""A search before it is sent: what makes two searches the same one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from earmark_worker.follow_up import Pins
from earmark_worker.turn_context import LONGEST_QUERY, MOST_QUERIES, TurnContext

SEARCH_TOOL = "search_knowledge"


@dataclass(frozen=True)
class SearchPlan:
    """The model's queries in the caller's turn, with what the worker adds to them."""

    turn: str
    queries: tuple[str, ...]
    context: TurnContext
    pins: Pins | None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two calls that would get the same answer."""
        return (self.turn, self.queries, self.pins, self.context.digest)


def strict_queries(arguments: str) -> tuple[str, ...] | None:
    """The queries of complete and strictly valid arguments, or None.

    Shape: exactly one key, `queries`, with one to four texts of 1 to 500 characters. A cut-off
    text is never mended here: what a model meant is for the authorised call to say.
    """
    try:
        parsed = json.loads(arguments)
    except ValueError:
        return None
    if not isinstance(parsed, dict) or set(parsed) != {"queries"}:
        return None
    return canonical(parsed["queries"])


def canonical(queries: object) -> tuple[str, ...] | None:
    """Queries with white space collapsed and repeats dropped, or None when they are no queries."""
    if not isinstance(queries, Sequence) or isinstance(queries, str):
        return None
    if not all(isinstance(query, str) for query in queries):
        return None
    clean = tuple(dict.fromkeys(" ".join(query.split()) for query in queries))
    fits = 1 <= len(queries) <= MOST_QUERIES and all(0 < len(q) <= LONGEST_QUERY for q in clean)
    return clean if fits else None
