"""Keeps for some minutes what was counted for the coverage page: it is looked at again and again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

from golden.coverage import Asked, count_asked
from knowledge.embedding.protocol import Embedder

KEPT_FOR: Final = timedelta(minutes=5)
MOST_KEPT: Final = 32


class Counts:
    """The counts of the organizations that were looked at last, each for a few minutes.

    Cost: a few hundred kB for each organization.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[int, str], Asked] = OrderedDict()
        self._lock = threading.Lock()

    def asked(
        self, organization_id: int, embedder: Embedder, *, at: datetime, anew: bool = False
    ) -> Asked:
        """Return what was counted a moment ago, or count it; nothing, or no groups, is not kept."""
        key = (organization_id, embedder.space.fingerprint)
        with self._lock:
            known = self._kept.get(key)
        if known is not None and not anew and known.at <= at < known.at + KEPT_FOR:
            return known
        counted = count_asked(organization_id, embedder, at=at)
        if counted.is_grouped and counted.groups:
            self._keep(key, counted)
        return counted

    def _keep(self, key: tuple[int, str], counted: Asked) -> None:
        with self._lock:
            self._kept[key] = counted
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


COUNTS: Final = Counts()
