"""What must never happen, counted for Prometheus: no names, no labels."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge

FOREIGN_ROWS: Final = Counter(
    "earmark_foreign_rows", "Answers thrown away because a row of another organization was in them."
)
BREAKER_OPEN: Final = Gauge(
    "earmark_embedding_breaker_open",
    "1 while a process leaves the embedding service alone because it failed too often.",
    multiprocess_mode="livemax",
)
