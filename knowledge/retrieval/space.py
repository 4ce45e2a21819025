"""In which embedding space a question is searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from knowledge.embedding.spaces import FILLED, Status
from tenants.prepared import rows_of

_SQL: Final = """
SELECT s.id, s.key FROM knowledge_embeddingspace s
 WHERE (s.key = %(key)s AND s.status = ANY(%(filled)s::text[])) OR s.status = %(active)s
 ORDER BY s.key = %(key)s DESC LIMIT 1
"""


@dataclass(frozen=True)
class SearchedSpace:
    """A space by its row and by what its vectors were made with."""

    pk: int
    key: str


def space_for(key: str) -> SearchedSpace | None:
    """Return the space that a question was embedded for while it is kept filled, else the active one.

    A search that began before a switch ends in the space that it began with.
    Cost: one statement.
    """
    values = {
        "key": key,
        "filled": [str(status) for status in FILLED],
        "active": str(Status.ACTIVE),
    }
    return next((SearchedSpace(*row) for row in rows_of(_SQL, values)), None)
