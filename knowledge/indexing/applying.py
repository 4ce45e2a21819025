"""Writes what the index holds of assets, if they are still ours: all of it or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from uuid_utils.compat import uuid7

from knowledge.embedding.spaces import filled_spaces, spaces_stay
from knowledge.indexing.assets import Live, Piece, chunk_id
from knowledge.indexing.gaps import note_gaps
from knowledge.indexing.leases import Claim, held
from knowledge.indexing.recutting import cut_otherwise, held_still, write_words
from knowledge.models import Chunk, Document, EmbeddingSpace, IndexState
from tenants.errors import EarmarkError
from tenants.isolation import organization_context

# What this organization holds already is put where new vectors are, before it is deleted below.
_SAVE: Final = """
INSERT INTO knowledge_embeddedtext (organization_id, space_id, text_hash, embedding)
SELECT DISTINCT ON (v.space_id, c.text_hash) c.organization_id, v.space_id, c.text_hash, v.embedding
  FROM knowledge_chunk c JOIN knowledge_vector v
    ON v.organization_id = c.organization_id AND v.chunk_id = c.id AND v.space_id = ANY(%(spaces)s)
 WHERE c.organization_id = %(organization)s AND c.text_hash = ANY(%(hashes)s)
   AND NOT EXISTS (SELECT FROM knowledge_embeddedtext e
     WHERE e.organization_id = c.organization_id AND e.space_id = v.space_id AND e.text_hash = c.text_hash)
    ON CONFLICT DO NOTHING
"""
_DELETE: Final = """
DELETE FROM knowledge_document WHERE organization_id = %(organization)s AND asset_id = ANY(%(assets)s)
"""
_INSERT: Final = """
INSERT INTO knowledge_vector (organization_id, space_id, asset_id, generation, position, chunk_id, embedding)
SELECT e.organization_id, e.space_id, w.asset_id, w.generation, w.position, w.chunk_id, e.embedding
  FROM unnest(%(owners)s::uuid[], %(generations)s::bigint[], %(positions)s::integer[], %(chunks)s::uuid[],
              %(texts)s::text[]) AS w(asset_id, generation, position, chunk_id, text_hash)
  JOIN knowledge_embeddedtext e
    ON e.organization_id = %(organization)s AND e.space_id = ANY(%(into)s) AND e.text_hash = w.text_hash
"""
_SPEND: Final = """
DELETE FROM knowledge_embeddedtext
 WHERE organization_id = %(organization)s AND space_id = ANY(%(spaces)s) AND text_hash = ANY(%(hashes)s)
"""

_SETTLE: Final = """
UPDATE knowledge_indexstate s SET applied_generation = w.generation, applied_version = w.version,
       document_key = w.key, fingerprint = w.fingerprint, status = 'live', attempts = 0, applied_at = %(at)s,
       lease_token = NULL, lease_until = NULL, last_error_code = '', last_error = ''
  FROM unnest(%(ids)s::uuid[], %(generations)s::bigint[], %(versions)s::uuid[], %(keys)s::text[],
              %(fingerprints)s::text[]) AS w(id, generation, version, key, fingerprint)
 WHERE s.id = w.id
"""


class VectorsMoved(EarmarkError):
    """Vectors were taken by another asset in this very moment."""

    code = "vectors_moved"
    retryable = True


@dataclass(frozen=True)
class Ready:
    """A claimed asset with what the index should hold of it; nothing when it is not live."""

    claim: Claim
    live: Live | None
    pieces: Sequence[Piece] = ()


def apply(ready: Sequence[Ready], space: EmbeddingSpace, *, at: datetime) -> set[UUID]:
    """Write the index of these assets in one transaction; return which were still ours.

    Raises: VectorsMoved when a vector that was there has gone; nothing is written then.
    Cost:   about ten statements, whatever the number of assets; more only where passages are cut anew.
    """
    organization_id = ready[0].claim.organization_id
    with organization_context(organization_id), spaces_stay():
        pieces = [(one.live, one.pieces) for one in ready if one.live]
        to_word = cut_otherwise(organization_id, pieces)
        held_up = {live.asset_id for live in to_word} - held_still(to_word)
        states = _still_ours([one.claim for one in ready if one.claim.asset_id not in held_up])
        ours = [one for one in ready if one.claim.asset_id in states]
        if ours:
            _write(ours, space, at=at)
            write_words([live for live in to_word if live.asset_id in states])
            _settle(ours, states, space, at=at)
    return set(states)


def _still_ours(claims: Sequence[Claim]) -> dict[UUID, IndexState]:
    if not claims:
        return {}
    # A row that a writer holds is about to change: not ours any more.
    asked = {one.asset_id: one.generation for one in claims}
    rows = held(claims).select_for_update(skip_locked=True, no_key=True).filter(asset_id__in=asked)
    return {row.asset_id: row for row in rows if row.desired_generation == asked[row.asset_id]}


def _write(ours: Sequence[Ready], space: EmbeddingSpace, *, at: datetime) -> None:
    rows = [_document(one.live, space, at=at) for one in ours if one.live]
    chunks = [chunk for one, row in _paired(ours, rows) for chunk in _chunks(one, row)]
    values = _values(ours, chunks, {row.asset_id: row.generation for row in rows})
    others = [other.pk for other in filled_spaces() if other.pk != space.pk]
    values["spaces"] = [space.pk, *others]
    with connection.cursor() as cursor:
        cursor.execute(_SAVE, values)
        cursor.execute(_DELETE, values)
        Document.objects.bulk_create(rows)
        Chunk.objects.bulk_create(chunks, batch_size=2_000)
        cursor.execute(_INSERT, values | {"into": [space.pk]})
        if cursor.rowcount != len(chunks):
            raise VectorsMoved
        if others:
            # What did not change is there already; the rest is filled behind this queue.
            cursor.execute(_INSERT, values | {"into": others})
            note_gaps(values["organization"], others, values["assets"], at=at)
        cursor.execute(_SPEND, values)


def _document(live: Live, space: EmbeddingSpace, *, at: datetime) -> Document:
    return Document(
        id=uuid7(),
        organization_id=live.organization_id,
        key=live.document_key,
        category=live.category,
        asset_id=live.asset_id,
        dataset=live.dataset,
        generation=live.generation,
        content_hash=live.text.content_hash,
        fingerprint=space.key,
        applied_at=at,
    )


def _paired(ours: Sequence[Ready], rows: Sequence[Document]) -> list[tuple[Ready, Document]]:
    return list(zip([one for one in ours if one.live], rows, strict=True))


def _chunks(one: Ready, document: Document) -> list[Chunk]:
    return [
        Chunk(
            id=chunk_id(document.organization_id, document.asset_id, piece.position),
            organization_id=document.organization_id,
            document=document,
            asset_id=document.asset_id,
            position=piece.position,
            start=piece.start,
            end=piece.end,
            section=piece.section,
            text_hash=piece.text_hash,
        )
        for piece in one.pieces
    ]


def _values(
    ours: Sequence[Ready],
    chunks: Sequence[Chunk],
    generations: Mapping[UUID, int],
) -> dict[str, Any]:
    return {
        "organization": ours[0].claim.organization_id,
        "assets": [one.claim.asset_id for one in ours],
        "hashes": sorted({chunk.text_hash for chunk in chunks}),
        "owners": [chunk.asset_id for chunk in chunks],
        "generations": [generations[chunk.asset_id] for chunk in chunks],
        "positions": [chunk.position for chunk in chunks],
        "chunks": [chunk.pk for chunk in chunks],
        "texts": [chunk.text_hash for chunk in chunks],
    }


def _settle(
    ours: Sequence[Ready],
    states: Mapping[UUID, IndexState],
    space: EmbeddingSpace,
    *,
    at: datetime,
) -> None:
    values: dict[str, Any] = {
        "at": at,
        "ids": [states[one.claim.asset_id].pk for one in ours],
        "generations": [one.claim.generation for one in ours],
        "versions": [one.live.version if one.live else None for one in ours],
        "keys": [one.live.document_key if one.live else "" for one in ours],
        "fingerprints": [space.key if one.live else "" for one in ours],
    }
    with connection.cursor() as cursor:
        cursor.execute(_SETTLE, values)
