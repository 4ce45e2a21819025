"""Vectors kept between runs, so that a text is embedded once for each embedder."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from knowledge.embedding.protocol import Embedder, SpaceSpec, Vector

PATIENCE_S = 120.0
DEADLINE_S = 600.0


class KeptEmbedder:
    """An `Embedder` that asks another one only for what it has not kept."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._file = sqlite3.connect(folder / "vectors.sqlite", timeout=PATIENCE_S)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )

    @property
    def space(self) -> SpaceSpec:
        """The space of the embedder behind."""
        return self._embedder.space

    def embed_queries(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what people ask, kept or new."""
        del deadline_s  # an evaluation waits for whatever it takes
        embed = partial(self._embedder.embed_queries, deadline_s=DEADLINE_S)
        return self._found("query", texts, embed)

    def embed_passages(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what is searched, kept or new."""
        del deadline_s
        embed = partial(self._embedder.embed_passages, deadline_s=DEADLINE_S)
        return self._found("passage", texts, embed)

    def token_count(self, texts: Sequence[str]) -> list[int]:
        """As the embedder behind counts."""
        return self._embedder.token_count(texts)

    def _found(
        self, modality: str, texts: Sequence[str], embed: Callable[[list[str]], list[Vector]]
    ) -> list[Vector]:
        keys = [self._key(modality, text) for text in texts]
        found = {key: self._kept(key) for key in keys}
        missing = {k: text for k, text in zip(keys, texts, strict=True) if found[k] is None}
        if missing:
            fresh = embed(list(missing.values()))
            self._keep(dict(zip(missing, fresh, strict=True)))
            found.update(zip(missing, fresh, strict=True))
        return [vector for key in keys if (vector := found[key]) is not None]

    def _key(self, modality: str, text: str) -> bytes:
        name = f"{self.space.fingerprint}\0{modality}\0{text}"
        return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()

    def _kept(self, key: bytes) -> Vector | None:
        row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", [key]).fetchone()
        return np.frombuffer(row[0], dtype=np.float32) if row else None

    def _keep(self, vectors: dict[bytes, Vector]) -> None:
        rows = [(key, vector.astype(np.float32).tobytes()) for key, vector in vectors.items()]
        with self._file:
            self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
