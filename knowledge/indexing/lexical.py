"""Lexical entries: written with the truth row, so that a publish is found at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final
from uuid import UUID

from django.db import connection

from knowledge.indexing.texts import AssetText
from knowledge.models import LexicalEntry
from knowledge.passages import Passage
from knowledge.text.keys import question_key, token_keys
from knowledge.text.tokens import tokenise

COPIED_AT_ONCE: Final = 300
_COPY: Final = """
COPY knowledge_lexicalentry (organization_id, category, asset_id, position, generation, start, "end", section, language,
                             tokens) FROM STDIN
"""


def write_lexical_entries(
    organization_id: int, category: str, asset_id: UUID, text: AssetText, *, generation: int
) -> None:
    """Replace an asset's lexical entries, inside the transaction that writes its truth row.

    Cost: one deletion and one insertion, in proportion to the text.
    """
    forget_lexical_entries(organization_id, [asset_id])
    copy_lexical_entries(
        lexical_entries(organization_id, category, asset_id, text, generation=generation)
    )


def forget_lexical_entries(organization_id: int, asset_ids: Iterable[UUID]) -> None:
    """Delete what these assets are found by.

    Cost: one statement.
    """
    found = LexicalEntry.objects.filter(organization_id=organization_id)
    found.filter(asset_id__in=list(asset_ids)).delete()


def copy_lexical_entries(entries: Iterable[LexicalEntry]) -> None:
    """Write the entries of many assets, inside the transaction that writes their truth rows.

    Cost: one statement for each few hundred: a book of a body must not outlast the statement's time.
    """
    rest = iter(entries)
    while part := list(islice(rest, COPIED_AT_ONCE)):
        _copy(part)


def _copy(entries: Iterable[LexicalEntry]) -> None:
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(_COPY) as copy:
        for one in entries:
            # As text: a converter for each of millions of numbers takes longer than the database.
            tokens = "{" + ",".join(map(str, one.tokens)) + "}"
            copy.write_row(
                (
                    one.organization_id, one.category, one.asset_id, one.position, one.generation,
                    one.start, one.end, one.section, one.language, tokens,
                )
            )  # fmt: skip


def lexical_entries(
    organization_id: int, category: str, asset_id: UUID, text: AssetText, *, generation: int
) -> Iterator[LexicalEntry]:
    """Yield the entries that an asset should have; nothing is written."""
    extra = " ".join(text.phrasings)
    for passage in text.passages():
        yield LexicalEntry(
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


def _tokens(organization_id: int, text: AssetText, passage: Passage, extra: str) -> frozenset[int]:
    indexed = passage.indexed_text(text.body)
    matched = f"{indexed}\n{extra}" if extra else indexed
    tokens = token_keys(organization_id, tokenise(matched, text.language or None))
    asked = (text.title, *text.phrasings) if text.is_answer else ()
    return tokens | {question_key(organization_id, question) for question in asked}
