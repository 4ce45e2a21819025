"""Who is asked: our dense leg with all its gates, and others on the same data and filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from django.db import connection

from bench.asking import K
from bench.data import Floats
from bench.scopes import Scope
from knowledge.embedding.spaces import active_space
from knowledge.retrieval.candidates import Probe, candidates
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.retrieval.types import Query

_SILENT = Query(text="", normalised="", language="", tokens=frozenset(), codes=frozenset())
# No token is looked for: what is measured is the dense leg.
_STATISTICS = CorpusStatistics()


class Engine(Protocol):
    """One way of searching."""

    name: str

    def search(self, vectors: Sequence[Floats], scope: Scope) -> list[Floats]:
        """Return, for each vector, the scores of the passages found."""
        ...


class Earmark:
    """The candidates of the knowledge category, as the pipeline asks for them."""

    name = "earmark"

    def __init__(self) -> None:
        space = active_space()
        self._space = space.pk if space else None

    def search(self, vectors: Sequence[Floats], scope: Scope) -> list[Floats]:
        """Expects the organization's context: gates and row security apply."""
        probe = Probe([_SILENT] * len(vectors), vectors, self._space, depth=K, lexical_rows=1)
        found = candidates("knowledge", probe, scope.allowlist, _STATISTICS)
        scores = np.array([candidate.cosines for candidate in found], dtype=np.float32)
        return [-np.sort(-scores[:, i])[:K] if found else scores for i in range(len(vectors))]


class Loopback:
    """The least that any question to this server takes."""

    name = "loopback"

    def search(self, vectors: Sequence[Floats], scope: Scope) -> list[Floats]:
        """Ask for nothing."""
        del vectors, scope
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
        return []
