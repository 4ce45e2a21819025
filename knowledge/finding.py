"""Find truth rows for staff: by id, by the words in them, or by a part of the title.

Row security keeps a pattern match from using an index, so words go through lexical entries, which
have one; only when they find nothing are the organization's titles read.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from knowledge.models import Category, Instruction, Item, LexicalEntry
from knowledge.text.keys import token_keys
from knowledge.text.tokens import query_tokens

MOST_FOUND: Final = 1_000
_MOST_WORDS: Final = 12
_MODELS: Final[dict[str, type[Item | Instruction]]] = {
    Category.KNOWLEDGE: Item,
    Category.INSTRUCTION: Instruction,
}


def find(category: str, organization_ids: Sequence[int], text: str) -> QuerySet[Any]:
    """Return the rows of these organizations that a text names, as a query to go on from.

    Runs inside their organization context; deleted rows are found too.
    Shape: at most a thousand rows.
    Cost:  up to three short statements; a title read of the organization when no word is found.
    """
    rows = _MODELS[category]._default_manager.filter(organization_id__in=list(organization_ids))
    asked_id = _id(text)
    named = _named(rows, text.strip(), asked_id)
    # The parts of an id are no words: "…-7-…" would find "seven".
    if named or asked_id:
        return rows.filter(pk__in=named)
    worded = _worded(category, organization_ids, text)
    if worded:
        return rows.filter(pk__in=worded)
    parts = rows.filter(title__icontains=text.strip()).order_by("-updated_at", "id")
    return rows.filter(pk__in=list(parts.values_list("pk", flat=True)[:MOST_FOUND]))


def _id(text: str) -> UUID | None:
    with suppress(ValueError):
        return UUID(text.strip())
    return None


def _named(rows: QuerySet[Any], text: str, asked_id: UUID | None) -> list[UUID]:
    by_name = Q(external_id=text) | Q(pk=asked_id) if asked_id else Q(external_id=text)
    return list(rows.filter(by_name).values_list("pk", flat=True)[:MOST_FOUND])


def _worded(category: str, organization_ids: Sequence[int], text: str) -> set[UUID]:
    """Return rows with a passage that has every word, in any of its forms."""
    words = text.split()[:_MOST_WORDS]
    if not words:
        return set()
    entries = LexicalEntry.objects.filter(
        organization_id__in=list(organization_ids), category=category
    )
    for word in words:
        forms = query_tokens(word)
        keys = {key for one in organization_ids for key in token_keys(one, forms)}
        entries = entries.filter(tokens__overlap=sorted(keys))
    return set(entries.values_list("asset_id", flat=True)[:MOST_FOUND])
