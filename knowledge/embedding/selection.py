"""Which embedder the settings ask for, one for each process."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from knowledge.embedding.local import local_embedder
from knowledge.embedding.protocol import Embedder, SpaceSpec
from knowledge.embedding.query_cache import CachedEmbedder, QueryCache
from knowledge.errors import EmbeddingMisconfigured

LOCAL = "local"
OPENAI = "openai"
OPENAI_URL = "https://api.openai.com/v1"
# Dimensions of models that people name without saying them; shorter ones fit the covering index.
KNOWN_DIMENSIONS = {"text-embedding-3-small": 512, "text-embedding-3-large": 1024}

_lock = threading.Lock()
_made: dict[tuple[int, str], CachedEmbedder] = {}


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_after_fork)


def current_embedder() -> CachedEmbedder:
    """The embedder that Django's settings ask for.

    Cost: 0.3 s for the local one at its first use in a process, then nothing.
    """
    return embedder_from_settings(wanted_by_django())


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
