"""Compares truth rows and index both ways and repairs what differs, however it came about."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection

from knowledge.embedding.spaces import filled_spaces
from knowledge.indexing.gaps import Place, seed_gaps
from knowledge.indexing.lexical import write_lexical_entries
from knowledge.indexing.state import raise_desired_for_all
from knowledge.indexing.writing import cut_again, text_of
from knowledge.models import Category, EmbeddingSpace, Instruction, Item
from knowledge.tables.canaries import FIRST, LAST
from tenants.isolation import organization_context
from tenants.models import Organization
from tenants.rounds import for_each

REPAIRED_AT_ONCE: Final = 200
# A statement over more of them may be cancelled, every time anew; what was raised before it stays.
COMPARED_AT_ONCE: Final = 5_000
ROUND_S: Final = 600
PAID_TEXT_KEPT: Final = timedelta(days=7)
_logger = logging.getLogger(__name__)

# The gates of time, channel and segment are evaluated live and never take a row out of the index.
_LIVE: Final = {
    Category.KNOWLEDGE: (
        "knowledge_item",
        "t.deleted_at IS NULL AND t.review_status = 'approved' AND t.parse_status IN ('parsed', 'ingested')"
        " AND (t.kind <> 'golden' OR t.published_version IS NOT NULL)",
    ),
    Category.INSTRUCTION: (
        "knowledge_instruction",
        "t.deleted_at IS NULL AND t.status = 'published'",
    ),
}
# What waits for its turn already, or has failed for good, is left to the queue.
_SETTLED: Final = """NOT EXISTS (SELECT FROM knowledge_indexstate s
  WHERE s.organization_id = %(organization)s AND s.asset_id = {asset}
    AND s.applied_generation < s.desired_generation)"""
_MISSING: Final = """
SELECT t.id FROM {table} t
 WHERE t.organization_id = %(organization)s AND t.id > %(after)s AND t.id <= %(upto)s AND {live} AND {settled}
   AND NOT EXISTS (SELECT FROM knowledge_document d
     WHERE d.organization_id = t.organization_id AND d.asset_id = t.id AND d.category = %(category)s
       AND d.generation = t.generation AND d.fingerprint LIKE %(cut)s
       AND (concat(t.title, t.body) !~ '[^[:space:]]' OR EXISTS (SELECT FROM knowledge_chunk c
         WHERE c.organization_id = d.organization_id AND c.document_id = d.id))
       AND NOT EXISTS (SELECT FROM knowledge_chunk c
         WHERE c.organization_id = d.organization_id AND c.document_id = d.id
           AND NOT EXISTS (SELECT FROM knowledge_vector v
             WHERE v.organization_id = c.organization_id AND v.chunk_id = c.id AND v.space_id = %(space)s
               AND v.asset_id = t.id AND v.generation = t.generation)))
"""
_SURPLUS: Final = """
SELECT DISTINCT d.asset_id FROM knowledge_document d
 WHERE d.organization_id = %(organization)s AND d.category = %(category)s
   AND d.asset_id > %(after)s AND d.asset_id <= %(upto)s AND {settled}
   AND (NOT EXISTS (SELECT FROM {table} t WHERE t.organization_id = d.organization_id AND t.id = d.asset_id AND {live})
     OR EXISTS (SELECT FROM knowledge_document o
       WHERE o.organization_id = d.organization_id AND o.asset_id = d.asset_id AND o.id <> d.id))
"""
_WORDLESS: Final = """
SELECT t.id FROM {table} t
 WHERE t.organization_id = %(organization)s AND t.id > %(after)s AND t.id <= %(upto)s
   AND t.deleted_at IS NULL AND t.body ~ '[^[:space:]]'
   AND (NOT EXISTS (SELECT FROM knowledge_lexicalentry l
          WHERE l.organization_id = t.organization_id AND l.asset_id = t.id)
     OR EXISTS (SELECT FROM knowledge_lexicalentry l
          WHERE l.organization_id = t.organization_id AND l.asset_id = t.id
            AND (l.generation <> t.generation OR l.category <> %(category)s)))
"""
# Passages follow each other from the first character of a body to its last, and both legs name the same.
_MISPLACED: Final = """
SELECT t.id FROM {table} t
 WHERE t.organization_id = %(organization)s AND t.id > %(after)s AND t.id <= %(upto)s AND t.deleted_at IS NULL
   AND (EXISTS (SELECT FROM knowledge_lexicalentry l
          WHERE l.organization_id = t.organization_id AND l.asset_id = t.id AND l.generation = t.generation
         HAVING max(l."end") <> char_length(t.body))
     OR EXISTS (SELECT FROM knowledge_document d
          JOIN knowledge_chunk c ON c.organization_id = d.organization_id AND c.document_id = d.id
          JOIN knowledge_lexicalentry l ON l.organization_id = d.organization_id AND l.asset_id = d.asset_id
           AND l.position = c.position AND l.generation = d.generation
         WHERE d.organization_id = t.organization_id AND d.asset_id = t.id AND d.generation = t.generation
           AND (l.start, l."end") <> (c.start, c."end")))
"""
# Where a part ends that is compared in one statement.
_END: Final = """
SELECT {id} FROM {table} WHERE organization_id = %(organization)s AND {id} > %(after)s
 ORDER BY {id} OFFSET %(most)s LIMIT 1
"""
_ORPHANED_ENTRIES: Final = """
DELETE FROM knowledge_lexicalentry l WHERE l.organization_id = %(organization)s AND l.category <> 'canary'
   AND NOT EXISTS (SELECT FROM knowledge_item t WHERE t.organization_id = l.organization_id AND t.id = l.asset_id)
   AND NOT EXISTS (SELECT FROM knowledge_instruction t WHERE t.organization_id = l.organization_id AND t.id = l.asset_id)
"""
# Passages of canaries are hidden from whoever did not ask for them; their vectors are not.
_ORPHANED_VECTORS: Final = f"""
DELETE FROM knowledge_vector v WHERE v.organization_id = %(organization)s
   AND v.asset_id NOT BETWEEN '{FIRST}' AND '{LAST}'
   AND NOT EXISTS (SELECT FROM knowledge_document d JOIN knowledge_chunk c
       ON c.organization_id = d.organization_id AND c.document_id = d.id
     WHERE d.organization_id = v.organization_id AND c.id = v.chunk_id AND c.position = v.position
       AND d.asset_id = v.asset_id)
"""  # noqa: S608 - composed of constants; every value is bound
_FORGOTTEN_STATES: Final = """
DELETE FROM knowledge_indexstate s WHERE s.organization_id = %(organization)s
   AND s.applied_generation = s.desired_generation AND s.document_key = ''
   AND NOT EXISTS (SELECT FROM knowledge_item t WHERE t.organization_id = s.organization_id AND t.id = s.asset_id)
   AND NOT EXISTS (SELECT FROM knowledge_instruction t WHERE t.organization_id = s.organization_id AND t.id = s.asset_id)
"""
_NAMELESS_GAPS: Final = """
DELETE FROM knowledge_spacegap g WHERE g.organization_id = %(organization)s
   AND NOT EXISTS (SELECT FROM knowledge_document d
     WHERE d.organization_id = g.organization_id AND d.asset_id = g.asset_id)
"""
_UNUSED_TEXTS: Final = """
DELETE FROM knowledge_embeddedtext WHERE organization_id = %(organization)s AND created_at < %(old)s
"""


@dataclass
class Differences:
    """What was found and repaired, in assets or rows.

    missing   should be indexed and is not, or not as it is now; raised again.
    surplus   is indexed and should not be; raised again.
    wordless  had no lexical entries, or those of another generation; written again.
    misplaced had passages beside the body, or elsewhere in it for words than for vectors; cut again.
    orphans   lexical entries and vectors that belong to nothing; deleted.
    leftovers paid texts nobody came for and states of assets that are gone; deleted.
    """

    missing: int = 0
    surplus: int = 0
    wordless: int = 0
    misplaced: int = 0
    orphans: int = 0
    leftovers: int = 0
    gaps: int = 0

    @property
    def total(self) -> int:
        """Everything that was not as it should be; leftovers are no fault."""
        found = self.missing + self.surplus + self.wordless + self.misplaced
        return found + self.orphans + self.gaps

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def reconcile(organization_id: int, *, space: EmbeddingSpace, at: datetime) -> Differences:
    """Compare and repair one organization; the index follows as the queue is worked.

    Cost: a dozen statements over each 5,000 of its rows; a fraction of a second for ten thousand items.
    """
    differences = Differences()
    for category in Category.values:
        _compare(organization_id, category, space, differences, at=at)
        _write_words_again(organization_id, category, differences)
        _cut_again(organization_id, category, differences, at=at)
    values = {"organization": organization_id, "old": at - PAID_TEXT_KEPT}
    with organization_context(organization_id):
        differences.orphans = _delete(_ORPHANED_ENTRIES, values) + _delete(
            _ORPHANED_VECTORS, values
        )
        unused = (_FORGOTTEN_STATES, _NAMELESS_GAPS, _UNUSED_TEXTS)
        differences.leftovers = sum(_delete(statement, values) for statement in unused)
    for other in filled_spaces():
        if other.pk != space.pk:
            differences.gaps += seed_gaps(Place(organization_id, other), at=at)
    if differences.total:
        _logger.warning(
            "differences", extra={"organization": organization_id, **differences.as_dict()}
        )
    return differences


def reconcile_all(*, space: EmbeddingSpace, at: datetime) -> dict[str, Differences]:
    """Do so for every organization, by slug; each round begins with another one.

    Raises: RoundIncomplete
    """
    everyone = list(Organization.objects.order_by("pk"))
    # A process that is ended for taking too long leaves those behind for a round that they begin.
    first = int(at.timestamp() // ROUND_S) % max(1, len(everyone))
    return for_each(
        "reconciling",
        [*everyone[first:], *everyone[:first]],
        lambda organization: reconcile(organization.pk, space=space, at=at),
    )


def _compare(
    organization_id: int,
    category: str,
    space: EmbeddingSpace,
    differences: Differences,
    *,
    at: datetime,
) -> None:
    values = {
        "organization": organization_id,
        "category": category,
        "space": space.pk,
        "cut": f"%:c{space.chunker_version}",
    }
    for part in _parts(organization_id, _LIVE[Category(category)][0]):
        differences.missing += _raise(_MISSING, "t.id", {**values, **part}, at=at)
    # What is missing was raised and is no longer settled, so it does not count twice.
    for part in _parts(organization_id, "knowledge_document", "asset_id"):
        differences.surplus += _raise(_SURPLUS, "d.asset_id", {**values, **part}, at=at)


def _parts(organization_id: int, table: str, column: str = "id") -> Iterator[dict[str, UUID]]:
    """Yield ranges of ids that hold some thousand rows each, and all ids together."""
    after: UUID | None = UUID(int=0)
    while after is not None:
        values: dict[str, Any] = {"organization": organization_id, "after": after}
        values["most"] = COMPARED_AT_ONCE - 1
        with organization_context(organization_id), connection.cursor() as cursor:
            cursor.execute(_END.format(id=column, table=table), values)
            end = next(iter(cursor.fetchone() or ()), None)
        yield {"after": after, "upto": end or UUID(int=2**128 - 1)}
        after = end


def _raise(statement: str, asset: str, values: dict[str, Any], *, at: datetime) -> int:
    organization_id, category = values["organization"], values["category"]
    with organization_context(organization_id):
        found = sorted(_ids(statement, category, asset, values))
        if found:
            raise_desired_for_all(organization_id, category, found, at=at)
    return len(found)


def _ids(statement: str, category: str, asset: str, values: dict[str, Any]) -> list[UUID]:
    table, live = _LIVE[Category(category)]
    sql = statement.format(table=table, live=live, settled=_SETTLED.format(asset=asset))
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [asset_id for (asset_id,) in cursor.fetchall()]


def _delete(statement: str, values: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def _write_words_again(organization_id: int, category: str, differences: Differences) -> None:
    for batch in _batches(_WORDLESS, organization_id, category):
        with organization_context(organization_id):
            for row in _locked(organization_id, category, batch):
                write_lexical_entries(
                    organization_id, category, row.pk, text_of(row), generation=row.generation
                )
                differences.wordless += 1


def _cut_again(
    organization_id: int, category: str, differences: Differences, *, at: datetime
) -> None:
    for batch in _batches(_MISPLACED, organization_id, category):
        with organization_context(organization_id):
            for row in _locked(organization_id, category, batch):
                cut_again(row, at=at)
                differences.misplaced += 1


def _batches(statement: str, organization_id: int, category: str) -> Iterator[Sequence[UUID]]:
    values = {"organization": organization_id, "category": category}
    for part in _parts(organization_id, _LIVE[Category(category)][0]):
        with organization_context(organization_id):
            found = _ids(statement, category, "", {**values, **part})
        for start in range(0, len(found), REPAIRED_AT_ONCE):
            yield found[start : start + REPAIRED_AT_ONCE]


def _locked(
    organization_id: int, category: str, ids: Sequence[UUID]
) -> Iterable[Item | Instruction]:
    # A row that a writer holds gets its words from the writer.
    rows = Item.objects if category == Category.KNOWLEDGE else Instruction.objects
    locked = rows.select_for_update(of=("self",), skip_locked=True, no_key=True)
    return locked.filter(organization_id=organization_id, pk__in=ids).order_by("pk")
