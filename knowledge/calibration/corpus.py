"""What is read of a corpus to calibrate on it: its words, some of its text, its vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import numpy as np
import numpy.typing as npt
from django.db import connection

from knowledge.models import EmbeddingSpace
from tenants.isolation import organization_context

MOST_SAMPLED: Final = 200
# A language that fewer passages than this share hold is not one of the corpus.
LEAST_SHARE: Final = 0.02
BLOCK: Final = 4_096

# Everything that some caller may hear; conversations never reach voice.
_LIVE: Final = """
live AS MATERIALIZED (
  SELECT id, generation, title, kind FROM knowledge_item
   WHERE organization_id = %(organization)s AND deleted_at IS NULL AND review_status = 'approved'
     AND parse_status IN ('parsed', 'ingested') AND dataset <> 'conversations'
     AND (kind <> 'golden' OR published_version IS NOT NULL)
  UNION ALL
  SELECT id, generation, title, 'instruction' FROM knowledge_instruction
   WHERE organization_id = %(organization)s AND deleted_at IS NULL AND status = 'published')
"""
_LANGUAGES: Final = """
WITH {live} SELECT l.language, count(*) FROM live JOIN knowledge_lexicalentry l
  ON l.organization_id = %(organization)s AND l.asset_id = live.id AND l.generation = live.generation
 GROUP BY l.language
"""
_TERMS: Final = """
INSERT INTO knowledge_corpusterm (organization_id, profile_id, token, passages)
WITH {live} SELECT %(organization)s, %(profile)s, token, count(*)
  FROM live JOIN knowledge_lexicalentry l
    ON l.organization_id = %(organization)s AND l.asset_id = live.id AND l.generation = live.generation
 CROSS JOIN unnest(l.tokens) AS token GROUP BY token
"""
# The same assets as long as they are there, whatever else comes and goes; the same wherever a corpus is brought
# in, because a source names its items and not we. Golden answers are named by us, so their question names them.
_NAME: Final = "CASE WHEN live.kind = 'golden' THEN i.title ELSE i.external_id END"
_SAMPLE: Final = """
WITH {live} SELECT live.id, live.title, i.phrasings, substring(i.body FROM l.start + 1 FOR l."end" - l.start)
  FROM live JOIN knowledge_item i ON i.organization_id = %(organization)s AND i.id = live.id
 CROSS JOIN LATERAL (
    SELECT start, "end" FROM knowledge_lexicalentry
     WHERE organization_id = %(organization)s AND asset_id = live.id AND generation = live.generation
       AND position >= 0
     ORDER BY md5({name} || ':' || position), position LIMIT 1) l
 WHERE live.kind <> 'instruction'
   AND EXISTS (SELECT FROM knowledge_vector v WHERE v.organization_id = %(organization)s
     AND v.space_id = %(space)s AND v.asset_id = live.id AND v.generation = live.generation AND v.position >= 0)
 ORDER BY md5({name}), live.id LIMIT %(most)s
""".replace("{name}", _NAME)
_VECTORS: Final = """
WITH {live} SELECT v.asset_id, v.position, live.kind = 'golden', v.embedding
  FROM live JOIN knowledge_vector v ON v.organization_id = %(organization)s AND v.space_id = %(space)s
   AND v.asset_id = live.id AND v.generation = live.generation
 ORDER BY v.asset_id, v.position
"""
_ENTRIES: Final = """
SELECT asset_id, position, language, tokens FROM knowledge_lexicalentry
 WHERE organization_id = %(organization)s
   AND (asset_id, position) IN (SELECT * FROM unnest(%(assets)s::uuid[], %(positions)s::integer[]))
"""

Place = tuple[UUID, int]


@dataclass(frozen=True)
class Block:
    """Whole assets with all their vectors.

    Shape: `vectors` (rows, dimensions), the other arrays (rows,); titles and phrasings come
    before passages and have negative positions.
    """

    assets: list[UUID]
    positions: npt.NDArray[np.int64]
    golden: npt.NDArray[np.bool_]
    vectors: npt.NDArray[np.float32]


def passages_by_language(organization_id: int) -> dict[str, int]:
    """Return how many passages a search can find, by language; "" where it is not known."""
    return dict(_rows(_LANGUAGES, {"organization": organization_id}))


def languages_of(counts: dict[str, int]) -> list[str]:
    """Return the languages of a corpus, the commonest first."""
    least = LEAST_SHARE * sum(counts.values())
    known = [(count, name) for name, count in counts.items() if name and count >= least]
    return [name for _, name in sorted(known, key=lambda pair: (-pair[0], pair[1]))]


@dataclass(frozen=True)
class Sampled:
    """An indexed item, and the words of one of its passages."""

    asset: UUID
    title: str
    phrasings: tuple[str, ...]
    passage: str


def sampled(organization_id: int, space: EmbeddingSpace) -> list[Sampled]:
    """Return indexed items; a sample that stays the same while the corpus grows."""
    values = {"organization": organization_id, "space": space.pk, "most": MOST_SAMPLED}
    return [
        Sampled(asset, title, tuple(phrasings), passage or "")
        for asset, title, phrasings, passage in _rows(_SAMPLE, values)
    ]


def entries(organization_id: int, places: list[Place]) -> dict[Place, tuple[str, frozenset[int]]]:
    """Return language and tokens of passages."""
    found = _rows(_ENTRIES, _places(organization_id, places))
    return {
        (asset, position): (language, frozenset(tokens))
        for asset, position, language, tokens in found
    }


def _places(organization_id: int, places: list[Place]) -> dict[str, Any]:
    return {
        "organization": organization_id,
        "assets": [asset for asset, _ in places],
        "positions": [position for _, position in places],
    }


def write_terms(organization_id: int, profile_id: UUID) -> None:
    """Count in how many passages each token occurs, inside the transaction of a new profile."""
    with connection.cursor() as cursor:
        cursor.execute(_of_live(_TERMS), {"organization": organization_id, "profile": profile_id})


def _rows(statement: str, values: dict[str, Any]) -> list[Any]:
    with organization_context(values["organization"]), connection.cursor() as cursor:
        cursor.execute(_of_live(statement), values)
        return list(cursor.fetchall())


def _of_live(statement: str) -> str:
    return statement.replace("{live}", _LIVE)


def blocks(organization_id: int, space: EmbeddingSpace) -> Iterator[Block]:
    """Yield every vector a search can find, in a fixed order and in bounded memory.

    Cost: one scan; about a second for 100,000 vectors.
    """
    values = {"organization": organization_id, "space": space.pk}
    kept: list[Any] = []
    with (
        organization_context(organization_id),
        connection.wrap_database_errors,
        _binary_cursor() as cursor,
    ):
        cursor.execute(_of_live(_VECTORS), values)
        while rows := cursor.fetchmany(BLOCK):
            kept += rows
            border = _last_border(kept)
            if border:
                yield _block(kept[:border])
                kept = kept[border:]
    if kept:
        yield _block(kept)


def _binary_cursor() -> Any:
    # Server side for bounded memory; parsing numbers as text would cost more than the scan.
    return connection.connection.cursor("calibration", binary=True)


def _last_border(rows: list[Any]) -> int:
    return next((i for i in range(len(rows) - 1, 0, -1) if rows[i][0] != rows[i - 1][0]), 0)


def _block(rows: list[Any]) -> Block:
    # pgvector sends a halfvec as its length, an unused word, and big-endian half precision numbers.
    raw = b"".join(bytes(row[3])[4:] for row in rows)
    vectors = np.frombuffer(raw, dtype=">f2").reshape(len(rows), -1).astype(np.float32)
    return Block(
        assets=[row[0] for row in rows],
        positions=np.array([row[1] for row in rows], dtype=np.int64),
        golden=np.array([row[2] for row in rows], dtype=np.bool_),
        vectors=vectors,
    )
