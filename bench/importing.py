"""An import through the product: beside a COPY of the same rows, and beside the embedder alone.

DOCUMENTS and LOCAL_DOCUMENTS make it shorter.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from psycopg.sql import SQL, Identifier, Literal

from bench.data import SEED
from bench.parts import Options, Outcome
from bench.product import drain, instant_embedder
from config.scratch import drop, point_at, scratch_database, superuser
from knowledge.embedding.protocol import Embedder
from knowledge.embedding.samples import CALIBRATION, CHECK
from knowledge.embedding.selection import embedder_from_settings
from knowledge.indexing.embedded import batches
from knowledge.indexing.status import wait_until_indexed
from knowledge.indexing.texts import AssetText
from knowledge.ingestion.importing import run_import
from knowledge.ingestion.request import ImportRequest
from knowledge.passages import passages
from tenants.models import Organization

DOCUMENTS: Final = int(os.environ.get("DOCUMENTS") or 20_000)
LOCAL_DOCUMENTS: Final = int(os.environ.get("LOCAL_DOCUMENTS") or 400)
DATABASE: Final = "bench_import"
TURNS: Final = 10
WORDS: Final = 40
CHARACTERS: Final = 700
LONGEST_S: Final = 3_600
LEAST_SHARE: Final = 0.8
# Everything that an import writes: the rows that are served, and the index derived from them.
TABLES: Final = {
    "knowledge_item": "id",
    "knowledge_lexicalentry": "asset_id",
    "knowledge_indexstate": "asset_id",
    "knowledge_document": "asset_id",
    "knowledge_chunk": "asset_id",
    "knowledge_vector": "asset_id",
}
_FROM: Final = """
COPY (SELECT t.* FROM {table} t WHERE t.{asset} IN (SELECT id FROM knowledge_item WHERE external_id LIKE {named}))
  TO STDOUT (FORMAT BINARY)
"""
_INTO: Final = "COPY {copy} FROM STDIN (FORMAT BINARY)"
Row = dict[str, str]


def measure(_options: Options) -> Outcome:
    """Print both."""
    beside_copy = _beside_copy()
    beside_embedder = _beside_embedder()
    faults: tuple[str, ...] = ()
    if beside_embedder["share"] < LEAST_SHARE:
        faults = (f"An import runs at {beside_embedder['share']:.0%} of its embedder, not 80 %.",)
    return Outcome({"copy": beside_copy, "local": beside_embedder}, faults)


def _beside_copy() -> dict[str, float]:
    """Import short documents with a service that answers at once, and copy the same rows.

    In turns, so that a busy machine slows both alike.
    Units: seconds; written is until every row is found by its words.
    """
    written = searchable = copied = 0.0
    with _database() as owner, instant_embedder() as embedding, drain(DATABASE, embedding):
        _import(owner, short_rows(1, "warm"))
        _make_copies()
        for turn in range(TURNS):
            found, everything = _import(owner, short_rows(DOCUMENTS // TURNS, f"turn{turn}-"))
            written, searchable = written + found, searchable + everything
            copied += _copied(f"turn{turn}-%")
    ratio = round(searchable / copied, 2)
    print(f"{DOCUMENTS:,} short documents: written after {written:.1f} s, all searchable after"
          f" {searchable:.1f} s; COPY of the same rows {copied:.1f} s: x{ratio}", flush=True)  # fmt: skip
    seconds = {"written": written, "searchable": searchable, "copy": copied}
    return {
        "documents": DOCUMENTS,
        "ratio": ratio,
        **{name: round(each, 2) for name, each in seconds.items()},
    }


def _beside_embedder() -> dict[str, float]:
    """Import with the local embedder, between two halves of the same texts embedded alone.

    Units: tokens a second.
    """
    embedder = embedder_from_settings({})
    rows = list(long_rows(LOCAL_DOCUMENTS))
    texts = [text for row in rows for text in _embedded_texts(row)]
    tokens = sum(embedder.token_count(texts))
    with _database() as owner, drain(DATABASE, {"EARMARK_EMBEDDING_MODEL": "local"}):
        _import(owner, short_rows(1, "warm"))
        seconds = _alone(embedder, texts[::2])
        _, searchable = _import(owner, rows)
        seconds += _alone(embedder, texts[1::2])
    alone, imported = tokens / seconds, tokens / searchable
    print(f"{LOCAL_DOCUMENTS:,} documents, {tokens:,} tokens: {imported:,.0f} tokens/s through the"
          f" import, {alone:,.0f} by the embedder alone: {imported / alone:.0%}", flush=True)  # fmt: skip
    return {
        "documents": LOCAL_DOCUMENTS,
        "tokens": tokens,
        "alone": round(alone, 1),
        "imported": round(imported, 1),
        "share": round(imported / alone, 3),
    }


@contextmanager
def _database() -> Iterator[Organization]:
    drop(DATABASE)
    scratch_database(DATABASE)
    point_at(DATABASE)
    yield Organization.objects.create(slug="bench", name="Bench")
    drop(DATABASE)


def _import(owner: Organization, rows: Iterable[Row]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        began = time.perf_counter()
        run_import(ImportRequest(owner.pk, (str(path),), "help"), clock=_now, watch=_nothing)
        written = time.perf_counter() - began
        if not wait_until_indexed(owner.pk, LONGEST_S):
            raise TimeoutError
        return written, time.perf_counter() - began


def _make_copies() -> None:
    with superuser(DATABASE) as connection:
        for table in TABLES:
            names = {"table": Identifier(table), "copy": Identifier(f"copy_of_{table}")}
            connection.execute(
                SQL("CREATE TABLE {copy} (LIKE {table} INCLUDING ALL)").format(**names)
            )


def _copied(named: str) -> float:
    """Copy what the import of these documents wrote; what is timed is the writing alone."""
    seconds = 0.0
    with superuser(DATABASE) as connection:
        for table, asset in TABLES.items():
            names = {
                "table": Identifier(table),
                "copy": Identifier(f"copy_of_{table}"),
                "asset": Identifier(asset),
                "named": Literal(named),
            }
            with connection.cursor().copy(SQL(_FROM).format(**names)) as source:
                blocks = list(source)
            began = time.perf_counter()
            with connection.cursor().copy(SQL(_INTO).format(**names)) as target:
                for block in blocks:
                    target.write(block)
            seconds += time.perf_counter() - began
    return seconds


def _alone(embedder: Embedder, texts: Sequence[str]) -> float:
    began = time.perf_counter()
    for batch in batches({text: text for text in texts}):
        embedder.embed_passages(list(batch.values()), deadline_s=LONGEST_S)
    return time.perf_counter() - began


def short_rows(count: int, prefix: str) -> Iterator[Row]:
    """Make documents of one paragraph, no two alike."""
    chance = random.Random(SEED)
    words = [f"word{number}" for number in range(5_000)]
    for number in range(count):
        body = " ".join(chance.choices(words, k=WORDS))
        yield {
            "id": f"{prefix}{number}",
            "title": f"Question {number} {prefix}",
            "text": f"{body}.",
        }


def long_rows(count: int) -> Iterator[Row]:
    """Make documents of several sentences in many scripts, no two alike."""
    chance = random.Random(SEED)
    for number in range(count):
        body = " ".join(chance.choices(CALIBRATION + CHECK[:10], k=CHARACTERS // 20))[:CHARACTERS]
        yield {"id": f"long{number}", "title": f"Page {number}", "text": f"{number}. {body}"}


def _embedded_texts(row: Row) -> list[str]:
    text = AssetText(row["title"], row["text"], "", "")
    found = passages(text.body, title=text.title)
    return [text.title, *(each.indexed_text(text.body) for each in found)]


def _now() -> datetime:
    return datetime.now(tz=UTC)  # noqa: TID251 - a command


def _nothing(_progress: Any) -> None:
    pass
