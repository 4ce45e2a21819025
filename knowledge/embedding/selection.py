"""Which embedder is used: that of the space that is searched, else the one that the settings ask for."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import Error, connection

from knowledge.embedding.local import LOCAL_SPACE, local_embedder
from knowledge.embedding.protocol import Embedder, SpaceSpec
from knowledge.embedding.query_cache import CachedEmbedder, QueryCache
from knowledge.embedding.spaces import Status, filled_spaces, is_of, spec_of
from knowledge.errors import EmbeddingMisconfigured
from knowledge.models import EmbeddingSpace

LOCAL = "local"
OPENAI = "openai"
OPENAI_URL = "https://api.openai.com/v1"
# Dimensions of models that people name without saying them; shorter ones fit the covering index.
KNOWN_DIMENSIONS = {"text-embedding-3-small": 512, "text-embedding-3-large": 1024}

# So long a process may go on asking in the space that was active before; that one stays filled.
REMEMBERED_S: Final = 1.0

_lock = threading.Lock()
_made: dict[tuple[int, str], CachedEmbedder] = {}
_seen: tuple[float, EmbeddingSpace | None] | None = None
_logger = logging.getLogger(__name__)


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_after_fork)


def current_embedder() -> CachedEmbedder:
    """The embedder of the space that is searched; before there is one, that of the settings.

    Cost: 0.3 s for the local one at its first use in a process; then one statement a second.
    """
    space = remembered_space()
    if space is None:
        return embedder_from_settings(wanted_by_django())
    try:
        return embedder_of(space)
    except EmbeddingMisconfigured:
        # Searches say that their dense leg is degraded, and readiness says why.
        return embedder_from_settings(wanted_by_django())


def remembered_space() -> EmbeddingSpace | None:
    """The active space as it was a moment ago."""
    global _seen
    if _seen is None or time.monotonic() - _seen[0] > REMEMBERED_S:
        last = _seen[1] if _seen else None
        try:
            last = _looked_up()
        except Error as error:
            # A search says for itself what it cannot read; which model to ask need not fail it.
            _logger.warning("space_not_read", extra={"failure": type(error).__name__})
        _give_connection_back()
        _seen = (time.monotonic(), last)
    return _seen[1]


def _give_connection_back() -> None:
    """Hold none while an embedding is awaited; where threads share connections, others need it."""
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()


def _looked_up() -> EmbeddingSpace | None:
    filled = filled_spaces()
    if filled:
        _forget_queries_of_others(filled)
    return next((space for space in filled if space.status == Status.ACTIVE), None)


def _forget_queries_of_others(filled: Sequence[EmbeddingSpace]) -> None:
    """A query's vectors go with their space."""
    with _lock:
        made = list(_made.values())
    for embedder in made:
        if not any(is_of(space, embedder.space) for space in filled):
            embedder.cache.clear()


def forget_active_space() -> None:
    """Look again: the process that switches sees it at once, others within a second."""
    global _seen
    _seen = None


def embedder_of(space: EmbeddingSpace) -> CachedEmbedder:
    """The embedder whose vectors a space holds.

    Raises: EmbeddingMisconfigured when nothing says how to ask its model.
    """
    wanted = wanted_by_django()
    if not space.base_url and is_of(space, wanted_spec()):
        return embedder_from_settings(wanted)
    if is_of(space, LOCAL_SPACE):
        return embedder_from_settings({**wanted, "provider": LOCAL})
    if space.provider == OPENAI and is_of(space, spec_of(space)):
        return embedder_from_settings(_asked_of(space, wanted))
    raise EmbeddingMisconfigured(f"No embedder makes vectors of the space {space.key}.")


def wanted_spec() -> SpaceSpec | None:
    """What the settings' embedder would be, without making it; None where they cannot work."""
    wanted = wanted_by_django()
    try:
        provider = wanted.get("provider") or _implied(wanted)
        return LOCAL_SPACE if provider == LOCAL else _space(wanted)
    except EmbeddingMisconfigured:
        return None


def _asked_of(space: EmbeddingSpace, wanted: Mapping[str, Any]) -> dict[str, Any]:
    address = space.base_url or wanted.get("base_url") or getattr(settings, "OPENAI_BASE_URL", "")
    key = wanted.get("api_key") or getattr(settings, "OPENAI_API_KEY", "")
    if not address or (address == OPENAI_URL and not key):
        raise EmbeddingMisconfigured(
            "The model of the embedding space needs OPENAI_BASE_URL or OPENAI_API_KEY."
        )
    return {
        "provider": OPENAI,
        "model": space.model,
        "dimensions": space.dimensions,
        "query_prefix": space.query_prefix,
        "passage_prefix": space.passage_prefix,
        "base_url": address,
        "api_key": key,
        "asks_dimensions": space.asks_dimensions and wanted.get("asks_dimensions", True),
        "encoding_format": wanted.get("encoding_format"),
    }


def wanted_by_django() -> Mapping[str, Any]:
    """`EARMARK_EMBEDDING` where it is set, else what the environment's variables became."""
    explicit: Mapping[str, Any] | None = getattr(settings, "EARMARK_EMBEDDING", None)
    return explicit or {
        "model": getattr(settings, "EMBEDDING_MODEL", LOCAL),
        "dimensions": getattr(settings, "EMBEDDING_DIMENSIONS", 0),
        "api_key": getattr(settings, "OPENAI_API_KEY", ""),
        "base_url": getattr(settings, "OPENAI_BASE_URL", ""),
    }


def embedder_from_settings(wanted: Mapping[str, Any]) -> CachedEmbedder:
    """The embedder of these settings, made once for each process, with its query cache.

    Raises: EmbeddingMisconfigured.
    """
    # Neither threads of onnxruntime nor connections outlive a fork.
    key = (os.getpid(), repr(sorted(wanted.items())))
    with _lock:
        if key not in _made:
            _made[key] = CachedEmbedder(_make(wanted), QueryCache())
        return _made[key]


def _make(wanted: Mapping[str, Any]) -> Embedder:
    provider = wanted.get("provider") or _implied(wanted)
    if provider == LOCAL:
        folder = wanted.get("cache_dir")
        return local_embedder(
            threads=wanted.get("threads") or None, cache_dir=Path(folder) if folder else None
        )
    if provider == OPENAI:
        return _openai(wanted)
    raise EmbeddingMisconfigured(f"There is no embedding provider called {provider!r}.")


def _implied(wanted: Mapping[str, Any]) -> str:
    named = wanted.get("model") not in (None, "", LOCAL)
    reachable = wanted.get("api_key") or wanted.get("base_url")
    if named and not reachable:
        raise EmbeddingMisconfigured(
            "A model is named, but neither OPENAI_API_KEY nor OPENAI_BASE_URL says where it is."
        )
    return OPENAI if named else LOCAL


def _openai(wanted: Mapping[str, Any]) -> Embedder:
    # The local embedder does without this package.
    from knowledge.embedding.openai_compatible import (
        NO_KEY,
        Endpoint,
        OpenAICompatibleEmbedder,
    )

    space = _space(wanted)
    endpoint = Endpoint(
        base_url=wanted.get("base_url") or OPENAI_URL,
        api_key=wanted.get("api_key") or NO_KEY,
        asks_dimensions=wanted.get("asks_dimensions", True),
        encoding_format=wanted.get("encoding_format") or "float",
    )
    return OpenAICompatibleEmbedder(space, endpoint)


def _space(wanted: Mapping[str, Any]) -> SpaceSpec:
    model = str(wanted.get("model") or "")
    dimensions = wanted.get("dimensions") or KNOWN_DIMENSIONS.get(model)
    if not model or not dimensions:
        raise EmbeddingMisconfigured(
            "EARMARK_EMBEDDING_MODEL and EARMARK_EMBEDDING_DIMENSIONS must both be set for this model."
        )
    return SpaceSpec(
        provider=OPENAI,
        model=model,
        dimensions=int(dimensions),
        query_prefix=wanted.get("query_prefix") or "",
        passage_prefix=wanted.get("passage_prefix") or "",
    )
