"""Vectors of texts: found again where this organization already has them, else bought and kept at once.

Whatever a provider answers is stored before anything else happens, so that a crash never pays
for a text twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np
from django.db import connection

from knowledge.embedding.metering import Meter, metered
from knowledge.embedding.protocol import Embedder, Vector
from knowledge.embedding.spending import Spent, note_spending
from knowledge.errors import EmbeddingFailed, EmbeddingRejected, EmbeddingUnavailable
from knowledge.models import EmbeddedText, EmbeddingSpace
from tenants.isolation import organization_context

MOST_TEXTS: Final = 64
# About 4,000 tokens: seconds for a local model, and little lost when a call fails.
MOST_CHARACTERS: Final = 16_000
DEADLINE_S: Final = 60.0
# So many refusals one after the other, and none accepted: it is not the texts.
REFUSALS_IN_A_ROW: Final = 3

_KNOWN: Final = """
SELECT text_hash FROM knowledge_embeddedtext
 WHERE organization_id = %(organization)s AND space_id = %(space)s AND text_hash = ANY(%(hashes)s)
UNION
SELECT c.text_hash FROM knowledge_chunk c JOIN knowledge_vector v
    ON v.organization_id = c.organization_id AND v.chunk_id = c.id AND v.space_id = %(space)s
 WHERE c.organization_id = %(organization)s AND c.text_hash = ANY(%(hashes)s)
"""
_KEEP: Final = """
INSERT INTO knowledge_embeddedtext (organization_id, space_id, text_hash, embedding)
SELECT %(organization)s, %(space)s, t.text_hash, t.embedding::halfvec
  FROM unnest(%(hashes)s::text[], %(vectors)s::text[]) AS t(text_hash, embedding)
    ON CONFLICT DO NOTHING
"""


@dataclass
class Found:
    """Which texts have a vector by now, by hash, and why others have none."""

    available: set[str] = field(default_factory=set)
    refused: dict[str, EmbeddingRejected] = field(default_factory=dict)
    stopped_by: EmbeddingFailed | None = None
    bought: int = 0


@dataclass(frozen=True)
class Shop:
    """Where vectors come from, for whom, and whether to go on asking."""

    organization_id: int
    space: EmbeddingSpace
    embedder: Embedder
    has_time: Callable[[], bool]


def find_vectors(texts: Mapping[str, str], shop: Shop) -> Found:
    """See to it that texts, given by hash, have vectors; what could not be had says why.

    Cost: one statement for what is known; a call of the embedder and one statement for each batch.
    """
    found = Found(known_hashes(shop.organization_id, shop.space, texts))
    missing = {
        text_hash: text for text_hash, text in texts.items() if text_hash not in found.available
    }
    for number, batch in enumerate(batches(missing)):
        # The first batch is always bought: however little time there is, it gets on.
        if found.stopped_by or (number and not shop.has_time()):
            break
        _buy(batch, shop, found)
    return found


def known_hashes(organization_id: int, space: EmbeddingSpace, hashes: Iterable[str]) -> set[str]:
    """Return which of these texts this organization already has a vector of in this space."""
    values: dict[str, Any] = {
        "organization": organization_id,
        "space": space.pk,
        "hashes": list(hashes),
    }
    with organization_context(organization_id), connection.cursor() as cursor:
        cursor.execute(_KNOWN, values)
        return {text_hash for (text_hash,) in cursor.fetchall()}


def batches(texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield texts, given by hash, in the batches that an embedder is asked for."""
    # Texts of like length make an even batch; a model pads all of them to the longest.
    batch: dict[str, str] = {}
    characters = 0
    for text_hash, text in sorted(texts.items(), key=lambda pair: (len(pair[1]), pair[0])):
        if batch and (len(batch) >= MOST_TEXTS or characters + len(text) > MOST_CHARACTERS):
            yield batch
            batch, characters = {}, 0
        batch[text_hash] = text
        characters += len(text)
    if batch:
        yield batch


def _buy(batch: Mapping[str, str], shop: Shop, found: Found) -> None:
    try:
        _embed_and_keep(batch, shop, found)
    except EmbeddingRejected as error:
        if len(batch) == 1:
            found.refused[next(iter(batch))] = error
        else:
            _buy_singly(batch, shop, found)
    except EmbeddingFailed as error:
        found.stopped_by = error


def _buy_singly(batch: Mapping[str, str], shop: Shop, found: Found) -> None:
    bought = found.bought
    for number, (text_hash, text) in enumerate(batch.items(), start=1):
        if found.stopped_by or not shop.has_time():
            return
        _buy({text_hash: text}, shop, found)
        if number >= REFUSALS_IN_A_ROW and found.bought == bought:
            # The others are not to blame: they wait, and come with other texts the next time.
            found.stopped_by = EmbeddingUnavailable(
                "The provider refuses one text after the other."
            )


def _embed_and_keep(batch: Mapping[str, str], shop: Shop, found: Found) -> None:
    texts = list(batch.values())
    with metered() as meter:
        try:
            vectors = shop.embedder.embed_passages(texts, deadline_s=DEADLINE_S)
            _refuse_strangers(vectors, len(batch), shop.space.dimensions)
        except EmbeddingFailed:
            _note_failed(meter, shop)
            raise
    tokens = meter.tokens or sum(shop.embedder.token_count(texts))
    spent = Spent(len(texts), tokens, max(1, meter.calls))
    with organization_context(shop.organization_id):
        keep_vectors(dict(zip(batch, vectors, strict=True)), shop.organization_id, shop.space)
        note_spending(shop.organization_id, shop.embedder.space, spent)
    found.available.update(batch)
    found.bought += len(batch)


def _note_failed(meter: Meter, shop: Shop) -> None:
    # Of several calls some may have brought vectors: they are not kept, but they were paid.
    if meter.calls:
        spent = Spent(0, meter.tokens, meter.calls, meter.failed)
        note_spending(shop.organization_id, shop.embedder.space, spent)


def _refuse_strangers(vectors: Sequence[Vector], count: int, dimensions: int) -> None:
    if len(vectors) != count or any(vector.shape != (dimensions,) for vector in vectors):
        raise EmbeddingRejected("The vectors are not of the space that is searched.")
    if not all(np.isfinite(vector).all() for vector in vectors):
        raise EmbeddingRejected("A vector is not made of finite numbers.")


def keep_vectors(
    vectors: Mapping[str, Vector], organization_id: int, space: EmbeddingSpace
) -> None:
    """Store vectors by the hash of their text."""
    values: dict[str, Any] = {
        "organization": organization_id,
        "space": space.pk,
        "hashes": list(vectors),
        "vectors": [_as_text(vector) for vector in vectors.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(_KEEP, values)


def kept_vectors(
    hashes: Iterable[str], organization_id: int, space: EmbeddingSpace
) -> dict[str, Vector]:
    """Return the stored vectors of these texts.

    Shape: float32; only texts that are kept here, not those already applied.
    """
    rows = EmbeddedText.objects.filter(
        organization_id=organization_id, space=space, text_hash__in=list(hashes)
    )
    return {row.text_hash: np.array(row.embedding, dtype=np.float32) for row in rows}


def text_hash(text: str) -> str:
    """Return the hash under which a text's vector is found again."""
    return hashlib.sha256(text.encode()).hexdigest()


def _as_text(vector: Vector) -> str:
    # Five digits name every half-precision number, and one format is filled in far sooner than 384.
    return _pattern(len(vector)) % tuple(vector.astype(np.float16).tolist())


@lru_cache(maxsize=8)
def _pattern(dimensions: int) -> str:
    return "[" + ",".join(["%.5g"] * dimensions) + "]"
