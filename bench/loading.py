"""Puts a made-up corpus into the real tables, and into Haystack's, on the same server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from bench.data import (
    DIMENSIONS,
    PASSAGES_PER_ITEM,
    SEED,
    VOCABULARY,
    Made,
    Numbers,
    folder_path,
    made,
    words,
)
from config.scratch import (
    digest_of,
    drop,
    note,
    noted,
    point_at,
    scratch_database,
    scratch_databases,
    superuser,
)
from knowledge.calibration.corpus import write_terms
from knowledge.embedding.selection import embedder_from_settings
from knowledge.embedding.spaces import space_key
from knowledge.models import CalibrationProfile, EmbeddingSpace, LexicalEntry, Source
from knowledge.passages import CHUNKER_VERSION
from knowledge.text.keys import token_key
from tenants.isolation import organization_context
from tenants.models import Organization

AT: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
PREFIX = "bench_"
# The space that the server of the load makes of its settings, so that both measure the same rows.
_WANTED: Final = {"model": "bench", "dimensions": DIMENSIONS, "base_url": "http://127.0.0.1:9/v1"}
SPACE_KEY: Final = space_key(embedder_from_settings(_WANTED).space, CHUNKER_VERSION)
# What questions about something else score here: so little that every search is answered.
_BANK: Final = {"bank": {"all": {"mean": -0.5, "deviation": 0.05}}}
# How an item is closed, by number; 0 is open.
CLOSED = (
    "",
    "review_status = 'pending'",
    "visibility = 'internal'",
    "channel_restricted = true, channels = '{chat}'",
    "valid_until = '2020-01-01Z'",
    "deleted_at = '2020-01-01Z'",
)

_STAGE = """
CREATE TEMP TABLE staged (id uuid, organization bigint, folder_key text, closed int);
CREATE TEMP TABLE passages (organization bigint, asset_id uuid, position int, embedding halfvec, tokens bigint[]);
"""
_ITEMS = """
INSERT INTO knowledge_item (id, organization_id, source_id, external_id, title, body, folder_key, kind, dataset,
  review_status, parse_status, phrasings, url, source_tag, metadata, agent_restricted, agents, domain, entity_type,
  entity_key, corpus_digest, language, visibility, channel_restricted, channels, segment_restricted, segments,
  jurisdiction_restricted, jurisdictions, generation, content_hash, lock_version)
SELECT s.id, s.organization, o.id, s.id::text, 'Item ' || s.id, repeat('Passage of a made-up item. ', 300), s.folder_key,
  'knowledge', 'default-kb', 'approved', 'parsed', '{}', '', '', '{}', false, '{}', '', '', '', '', 'en', 'public',
  false, '{}', false, '{}', false, '{}', 1, '', 1
  FROM staged s JOIN knowledge_source o ON o.organization_id = s.organization ORDER BY s.id
"""
_REST = """
INSERT INTO knowledge_document (id, organization_id, key, category, asset_id, dataset, generation, content_hash,
                                fingerprint, applied_at)
SELECT id, organization, id::text, 'knowledge', id, 'default-kb', 1, '', '', now() FROM staged ORDER BY staged.id;
INSERT INTO knowledge_chunk (id, organization_id, document_id, asset_id, position, start, "end", section, text_hash)
SELECT md5(asset_id::text || position)::uuid, organization, asset_id, asset_id, position, position * 700,
       position * 700 + 700, '', md5(asset_id::text || position) FROM passages ORDER BY asset_id, position;
INSERT INTO knowledge_vector (organization_id, space_id, asset_id, generation, position, chunk_id, embedding)
SELECT organization, (SELECT id FROM knowledge_embeddingspace), asset_id, 1, position,
       md5(asset_id::text || position)::uuid, embedding FROM passages ORDER BY asset_id, position;
INSERT INTO knowledge_lexicalentry (organization_id, category, asset_id, position, generation, start, "end", section,
                                    language, tokens)
SELECT organization, 'knowledge', asset_id, position, 1, position * 700, position * 700 + 700, '', 'en', tokens
  FROM passages ORDER BY asset_id, position;
"""
_CODE = ("bench/data.py", "bench/loading.py", "*/migrations/*.py")


@dataclass(frozen=True)
class Loaded:
    """A corpus that lies in a database, with its organizations in the order of the arrays."""

    database: str
    made: Made
    organizations: tuple[int, ...]


def loaded(passages: int, *, organizations: int, peers: bool = False) -> Loaded:
    """Make the corpus, put it into a database unless it lies there, and open that database.

    With peers, Haystack's table beside ours is filled as well.

    Cost: about 20 s for 100,000 passages the first time.
    """
    corpus = made(passages, organizations=organizations)
    name = f"{PREFIX}{passages}_{organizations}_{digest_of(*_CODE)}"
    scratch_database(name)
    point_at(name)
    if not noted(name):
        owners = _organizations(organizations)
        _load(name, corpus, owners)
        _profile(owners[0])
        note(name, "loaded")
    if peers and noted(name) != "with peers":
        _fill_peers(name)
    return Loaded(
        name, corpus, tuple(Organization.objects.order_by("pk").values_list("pk", flat=True))
    )


def _fill_peers(name: str) -> None:
    from bench.haystack import fill

    with superuser(name) as connection:
        fill(name, connection)
    note(name, "with peers")


def forget_old() -> None:
    """Drop the corpora that other code has loaded."""
    current = digest_of(*_CODE)
    drop(*(name for name in scratch_databases(PREFIX) if not name.endswith(current)))


def _organizations(count: int) -> list[int]:
    EmbeddingSpace.objects.create(
        key=SPACE_KEY, provider="bench", model="made up", dimensions=DIMENSIONS,
        chunker_version="1", status="active",
    )  # fmt: skip
    owners = [
        Organization.objects.create(slug=f"organization-{number}", name=f"Organization {number}").pk
        for number in range(count)
    ]
    for owner in owners:
        with organization_context(owner):
            Source.objects.create(organization_id=owner, slug="docs", name="Docs")
    return owners


def _profile(owner: int) -> None:
    with organization_context(owner):
        profile = CalibrationProfile.objects.create(
            organization_id=owner,
            space=EmbeddingSpace.objects.get(),
            version=1,
            passages=LexicalEntry.objects.filter(organization_id=owner).count(),
            cosine_deviation=0.02,
            languages=["en"],
            parameters=_BANK,
            is_active=True,
            fitted_at=AT,
        )
        write_terms(owner, profile.pk)


def _load(name: str, corpus: Made, owners: Sequence[int]) -> None:
    with superuser(name) as connection:
        register_vector(connection)
        # Foreign keys hold by construction; checking a million of them is not what is measured.
        connection.execute("SET session_replication_role = replica")
        with connection.transaction():
            connection.execute(_STAGE)
            _copy_items(connection, corpus, owners)
            _copy_passages(connection, corpus, owners)
            connection.execute(_ITEMS)
            for closed, change in enumerate(CLOSED):
                if change:
                    connection.execute(
                        f"UPDATE knowledge_item SET {change}"  # noqa: S608 - from the list above
                        f" WHERE id IN (SELECT id FROM staged WHERE closed = {closed})"
                    )
            connection.execute(_REST)
        connection.execute("VACUUM ANALYZE")


def _copy_items(connection: psycopg.Connection, corpus: Made, owners: Sequence[int]) -> None:
    with connection.cursor().copy("COPY staged FROM STDIN") as copy:
        for item, pk in enumerate(corpus.ids):
            folder = f"docs/{folder_path(corpus.folders[item])}"
            owner = owners[corpus.organizations[item]]
            copy.write_row((pk, owner, folder, int(corpus.closed[item])))


def _copy_passages(connection: psycopg.Connection, corpus: Made, owners: Sequence[int]) -> None:
    keys = {number: _keys(owner) for number, owner in enumerate(owners)}
    chance = np.random.default_rng(SEED)
    with connection.cursor().copy("COPY passages FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(["int8", "uuid", "int4", "halfvec", "int8[]"])
        for item, pk in enumerate(corpus.ids):
            number = int(corpus.organizations[item])
            spoken = words(chance, PASSAGES_PER_ITEM)
            for position in range(PASSAGES_PER_ITEM):
                vector = HalfVector(corpus.vectors[item * PASSAGES_PER_ITEM + position])
                tokens = np.unique(keys[number][spoken[position]]).tolist()
                copy.write_row((owners[number], pk, position, vector, tokens))


def _keys(owner: int) -> Numbers:
    return np.array([token_key(owner, f"word{n}") for n in range(VOCABULARY + 1)], dtype=np.int64)
