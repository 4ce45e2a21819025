"""Lexical entries: written with the truth row, so that a publish is found at once."""

from __future__ import annotations

from uuid import UUID

from knowledge.indexing.texts import AssetText
from knowledge.models import LexicalEntry
from knowledge.passages import Passage
from knowledge.text.keys import question_key, token_keys
from knowledge.text.tokens import tokenise


def write_lexical_entries(
    organization_id: int, category: str, asset_id: UUID, text: AssetText, *, generation: int
) -> None:
    """Replace an asset's lexical entries, inside the transaction that writes its truth row.

    Cost: one deletion and one insertion, in proportion to the text.
    """
    LexicalEntry.objects.filter(organization_id=organization_id, asset_id=asset_id).delete()
    extra = " ".join(text.phrasings)
    LexicalEntry.objects.bulk_create(
        LexicalEntry(
            organization_id=organization_id,
            category=category,
            asset_id=asset_id,
            position=passage.position,
            generation=generation,
            start=passage.start,
            end=passage.end,
            section=" > ".join(passage.section),
            language=text.language,
            tokens=sorted(_tokens(organization_id, text, passage, extra)),
        )
        for passage in text.passages()
    )


def _tokens(organization_id: int, text: AssetText, passage: Passage, extra: str) -> frozenset[int]:
    indexed = passage.indexed_text(text.body)
    matched = f"{indexed}\n{extra}" if extra else indexed
    tokens = token_keys(organization_id, tokenise(matched, text.language or None))
    asked = (text.title, *text.phrasings) if text.is_answer else ()
    return tokens | {question_key(organization_id, question) for question in asked}
