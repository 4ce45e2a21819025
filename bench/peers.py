"""Libraries that search inside the process, without gates or a server: how near the floor we are."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge as edge

from bench.asking import K
from bench.data import DIMENSIONS, PASSAGES_PER_ITEM, Floats, folder_path
from bench.loading import Loaded
from bench.scopes import Scope

_BATCH = 5_000
_FIELDS = ("organization", "folder", "item", "open")


faiss: Any = import_module("faiss")


class Faiss:
    """FAISS flat, told the allowed rows beforehand."""

    name = "faiss"

    def __init__(self, loaded: Loaded) -> None:
        faiss.omp_set_num_threads(1)
        self._index: Any = faiss.IndexFlatIP(DIMENSIONS)
        self._index.add(loaded.made.vectors.astype(np.float32))
        self._allowed: dict[str, Any] = {}

    def search(self, vectors: Sequence[Floats], scope: Scope) -> list[Floats]:
        """One call for all vectors; the bitmap of a scope is made once."""
        count = min(K, len(scope.rows))
        scores, _ = self._index.search(np.array(vectors), count, params=self._parameters(scope))
        return list(scores)

    def _parameters(self, scope: Scope) -> Any:
        if scope.name not in self._allowed:
            bits = np.zeros(self._index.ntotal, dtype=bool)
            bits[scope.rows] = True
            packed = np.packbits(bits, bitorder="little")
            selector = faiss.IDSelectorBitmap(packed)
            self._allowed[scope.name] = faiss.SearchParameters(sel=selector), packed
        return self._allowed[scope.name][0]


class QdrantEdge:
    """Qdrant's embedded engine, exact, with indexes on what is filtered by."""

    name = "qdrant"

    def __init__(self, loaded: Loaded) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bench-qdrant-")
        vectors = edge.EdgeVectorParams(size=DIMENSIONS, distance=edge.Distance.Dot)
        path = str(Path(self._folder.name) / "shard")
        self._shard = edge.EdgeShard.create(path, edge.EdgeConfig(vectors=vectors))
        for start in range(0, len(loaded.made.vectors), _BATCH):
            points = _points(loaded, start, start + _BATCH)
            self._shard.update(edge.UpdateOperation.upsert_points(points))
        for field in _FIELDS:
            kind = "Integer" if field in ("organization", "open") else "Keyword"
            schema = getattr(edge.PayloadSchemaType, kind)
            self._shard.update(edge.UpdateOperation.create_field_index(field, schema))
        self._shard.optimize()

    def search(self, vectors: Sequence[Floats], scope: Scope) -> list[Floats]:
        """One call for each vector."""
        allowed = _filter(scope.filter)
        return [self._one(vector, allowed) for vector in vectors]

    def _one(self, vector: Floats, allowed: Any) -> Floats:
        request = edge.SearchRequest(
            query=edge.Query.Nearest(vector.tolist()),
            limit=K,
            filter=allowed,
            params=edge.SearchParams(exact=True),
        )
        return np.array([point.score for point in self._shard.search(request)], dtype=np.float32)


def _points(loaded: Loaded, start: int, end: int) -> list[Any]:
    made = loaded.made
    points = []
    for row in range(start, min(end, len(made.vectors))):
        item = row // PASSAGES_PER_ITEM
        payload = {
            "organization": loaded.organizations[made.organizations[item]],
            "folder": f"docs/{folder_path(made.folders[item])}",
            "item": str(made.ids[item]),
            "open": int(made.closed[item] == 0),
        }
        points.append(edge.Point(row, made.vectors[row].astype(np.float32).tolist(), payload))
    return points


def _filter(condition: dict[str, Any]) -> Any:
    """Say in Qdrant's words what the scope says to Haystack."""
    if condition["operator"] == "AND":
        return edge.Filter(must=[_filter(part) for part in condition["conditions"]])
    if condition["operator"] == "OR":
        return edge.Filter(should=[_filter(part) for part in condition["conditions"]])
    value = condition["value"]
    several = condition["operator"] == "in"
    match: Any = edge.MatchAny(value) if several else edge.MatchValue(int(value))
    return edge.FieldCondition(condition["field"].removeprefix("meta."), match=match)
