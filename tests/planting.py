"""Put rows into the index by SQL, past every verb: what a bug or a stale worker would leave."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np
from django.db import connection
from pgvector import HalfVector

from knowledge.models import EmbeddingSpace
from knowledge.retrieval.query import understand
from knowledge.retrieval.types import Understood

DIMENSIONS = 8
SPACE_KEY = "test:planted:8"


def space() -> EmbeddingSpace:
    EmbeddingSpace.objects.exclude(key=SPACE_KEY).update(status="retired")
    return EmbeddingSpace.objects.get_or_create(
        key=SPACE_KEY,
        defaults={
            "provider": "test", "model": "planted", "dimensions": DIMENSIONS,
            "chunker_version": "1", "status": "active",
        },
    )[0]  # fmt: skip


def direction(seed: int, away: float = 0.0) -> np.ndarray:
    """Return a unit vector; `away` in radians turns it towards a fixed other direction."""
    chance = np.random.default_rng(seed)
    first, other = np.linalg.qr(chance.normal(size=(DIMENSIONS, 2)))[0].T
    turned: np.ndarray = (np.cos(away) * first + np.sin(away) * other).astype(np.float32)
    return turned


def asked(organization_id: int, text: str | Sequence[str], vector: np.ndarray | None) -> Understood:
    """Return a question, asked in one way or several, whose vector is given."""
    texts = [text] if isinstance(text, str) else text
    queries = understand(texts, organization_id=organization_id)
    vectors = None if vector is None else (vector,) * len(queries)
    return Understood(queries, vectors, SPACE_KEY)


DOCUMENTS = """
INSERT INTO knowledge_document (id, organization_id, key, category, asset_id, dataset, generation,
                                content_hash, fingerprint, applied_at)
SELECT gen_random_uuid(), %(org)s, gen_random_uuid()::text, %(category)s, a.id, 'default-kb', %(generation)s, '', '', now()
  FROM unnest(%(assets)s::uuid[]) AS a(id) RETURNING id, asset_id
"""
CHUNKS = """
INSERT INTO knowledge_chunk (id, organization_id, document_id, asset_id, position, start, "end", section, text_hash)
SELECT d.id, %(org)s, d.id, d.asset_id, 0, 0, 0, '', '' FROM knowledge_document d
 WHERE d.organization_id = %(org)s AND d.asset_id = ANY(%(assets)s)
   AND NOT EXISTS (SELECT 1 FROM knowledge_chunk c WHERE c.document_id = d.id)
"""
VECTORS = """
INSERT INTO knowledge_vector (organization_id, space_id, asset_id, generation, position, chunk_id, embedding)
SELECT %(org)s, %(space)s, d.asset_id, d.generation, 0, d.id, e.text::halfvec
  FROM knowledge_document d JOIN unnest(%(assets)s::uuid[], %(texts)s::text[]) AS e(asset_id, text) USING (asset_id)
 WHERE d.organization_id = %(org)s AND NOT EXISTS (SELECT 1 FROM knowledge_vector v WHERE v.chunk_id = d.id)
"""


def plant_vectors(organization_id, rows, *, category="knowledge", generation=1) -> None:
    """Give each asset a document, a chunk and a vector.

    Shape: rows: asset id -> vector. Expects the organization's context.
    """
    values = {
        "org": organization_id,
        "space": space().pk,
        "category": category,
        "generation": generation,
        "assets": list(rows),
        "texts": [HalfVector(vector).to_text() for vector in rows.values()],
    }
    with connection.cursor() as cursor:
        # Without foreign key checks: 50,000 of them would take minutes and are not what is tested.
        cursor.execute(
            "SET LOCAL session_replication_role = replica; SET LOCAL statement_timeout = 0"
        )
        for statement in (DOCUMENTS, CHUNKS, VECTORS):
            cursor.execute(statement, values)
        cursor.execute("SET LOCAL session_replication_role = origin")


ITEMS = """
INSERT INTO knowledge_item (id, organization_id, source_id, external_id, title, body, folder_key, kind, dataset,
  review_status, parse_status, phrasings, url, source_tag, metadata, agent_restricted, agents, domain, entity_type,
  entity_key, corpus_digest, language, visibility, channel_restricted, channels, segment_restricted, segments,
  jurisdiction_restricted, jurisdictions, generation, content_hash, lock_version)
SELECT a.id, %(org)s, %(source)s, a.id::text, 'Filler ' || a.id, 'Filler text.', %(folder)s, 'knowledge', 'default-kb',
  'approved', 'parsed', '{}', '', '', '{}', false, '{}', '', '', '', '', 'en', 'public', false, '{}', false, '{}',
  false, '{}', 1, '', 1
  FROM unnest(%(assets)s::uuid[]) AS a(id)
"""


def plant_items(tenant, folder, count) -> list[uuid.UUID]:
    """Make many approved items by SQL. Expects the organization's context."""
    assets = [uuid.uuid4() for _ in range(count)]
    values = {
        "org": tenant.organization.pk,
        "source": tenant.sources["help"].pk,
        "folder": folder,
        "assets": assets,
    }
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(ITEMS, values)
        cursor.execute("SET LOCAL session_replication_role = origin")
    return assets
